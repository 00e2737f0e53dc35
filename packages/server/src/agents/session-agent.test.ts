import type {
  AgentWithOverridesParams,
  CustomTool,
  SessionAgentParams,
  SessionAgentUpdateParams,
} from '@fleetloom/protocol/managed-agents';
import { toRoster } from '@fleetloom/protocol/managed-agents';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../store/suite/samples.suite.ts';
import { type AgentsSample, model, onEachStore, workspaceId } from './sample.suite.ts';
import { resolveSessionAgent, updateSessionAgent } from './session-agent.ts';

const self = { type: 'self' } as const;
const toolset = { type: 'agent_toolset_20260401' } as const;
const mcpToolset = { type: 'mcp_toolset', mcp_server_name: 'a' } as const;
const mcpServer = { type: 'url', name: 'a', url: 'http://localhost:1/mcp' } as const;
const skill = { type: 'anthropic', skill_id: 'xlsx' } as const;

onEachStore((withAgents) => {
  describe('snapshots', () => {
    it(
      '[A36] an id means the newest version; the session stores all of it except metadata and times',
      withAgents(async (sample) => {
        const { agents } = sample;
        const { id } = await agents.create(workspaceId, { name: 'R', model, description: 'd', metadata: { a: '1' } });
        const current = await agents.update(workspaceId, id, {
          system: 'v2',
          tools: [toolset, mcpToolset],
          mcp_servers: [mcpServer],
          skills: [skill],
        });
        const resolved = await resolve(sample, id);
        expect(current).toMatchObject(resolved);
        expect(Object.keys(resolved).sort()).toEqual([
          'description',
          'execution_identity',
          'id',
          'mcp_servers',
          'model',
          'multiagent',
          'name',
          'skills',
          'system',
          'tools',
          'type',
          'version',
        ]);
        expect(await resolve(sample, { type: 'agent', id })).toEqual(resolved);
      }),
    );

    it(
      '[A36] a version that is named is taken, and the snapshot does not change with the agent',
      withAgents(async (sample) => {
        const { agents } = sample;
        const { id } = await agents.create(workspaceId, { name: 'R', model, system: 'v1' });
        const before = await resolve(sample, id);
        await agents.update(workspaceId, id, { system: 'v2' });
        expect(before).toMatchObject({ version: 1, system: 'v1' });
        expect(await resolve(sample, { type: 'agent', id, version: 1 })).toEqual(before);
        expect(await resolve(sample, id)).toMatchObject({ version: 2, system: 'v2' });
      }),
    );

    it(
      '[A37] an agent that does not exist is not found, and an archived one is refused at every version',
      withAgents(async (sample) => {
        const { agents } = sample;
        const { id } = await agents.create(workspaceId, { name: 'R', model });
        expect(await codeOf(resolve(sample, 'agent_x'))).toBe('agent_not_found');
        expect(await codeOf(resolve(sample, { type: 'agent', id, version: 2 }))).toBe('agent_not_found');
        expect(await codeOf(resolve(sample, { type: 'agent_with_overrides', id: 'agent_x' }))).toBe('agent_not_found');
        expect(await codeOf(resolveSessionAgent({ store: sample.store, workspaceId: 'wrkspc_2', agent: id }))).toBe(
          'agent_not_found',
        );
        await agents.archive(workspaceId, id);
        expect(await codeOf(resolve(sample, id))).toBe('agent_archived');
        expect(await codeOf(resolve(sample, { type: 'agent', id, version: 1 }))).toBe('agent_archived');
        expect(await codeOf(resolve(sample, { type: 'agent_with_overrides', id }))).toBe('agent_archived');
      }),
    );

    it(
      '[A38] the members of a coordinator are included at their pinned versions, also if they were archived since',
      withAgents(async (sample) => {
        const { agents } = sample;
        const member = await agents.create(workspaceId, { name: 'm', model, system: 'v1', tools: [toolset] });
        const multiagent = { type: 'coordinator', agents: [member.id, self] } as const;
        const { id } = await agents.create(workspaceId, { name: 'lead', model, multiagent });
        await agents.update(workspaceId, member.id, { system: 'v2' });
        await agents.archive(workspaceId, member.id);
        const { multiagent: spelled, ...own } = await resolve(sample, id);
        expect(Object.keys(own)).toHaveLength(11);
        expect(member).toMatchObject(toRoster(spelled)[0]!);
        expect(Object.keys(toRoster(spelled)[0]!).sort()).toEqual(Object.keys(own).sort());
        expect(toRoster(spelled).slice(1)).toEqual([own]);
        expect(spelled?.type).toBe('coordinator');
      }),
    );

    it(
      '[A38] the newer form is spelled out in its own form',
      withAgents(async (sample) => {
        const { agents } = sample;
        const member = await agents.create(workspaceId, { name: 'm', model });
        const disabled = { type: 'disabled' } as const;
        const subagents = { type: 'enabled', predefined_agents: [member.id] } as const;
        const { id } = await agents.create(workspaceId, {
          name: 'lead',
          model,
          multiagent: { type: 'multiagent_20261001', subagents },
        });
        const spelled = (await resolve(sample, id)).multiagent;
        expect(spelled).toMatchObject({
          type: 'multiagent_20261001',
          subagents: { type: 'enabled', predefined_agents: [{ id: member.id, name: 'm' }], inline_agents: disabled },
          workflows: disabled,
          advisor: disabled,
        });
        await agents.update(workspaceId, id, { multiagent: { type: 'multiagent_20261001', subagents: disabled } });
        expect((await resolve(sample, id)).multiagent).toMatchObject({ subagents: disabled });
      }),
    );
  });

  describe('overrides', () => {
    it(
      '[A39] each override replaces the whole field; id and version stay, and the agent does not change',
      withAgents(async (sample) => {
        const { agents } = sample;
        const base = await agents.create(workspaceId, {
          name: 'R',
          model: { id: 'm', effort: 'low', speed: 'fast' },
          system: 's',
          tools: [toolset],
          skills: [skill],
        });
        const override = (parts: Partial<AgentWithOverridesParams>) =>
          resolve(sample, { type: 'agent_with_overrides', id: base.id, ...parts });
        const plain = await resolve(sample, base.id);
        expect(await override({})).toEqual(plain);
        expect(await override({ model: 'm' })).toEqual({
          ...plain,
          model: { id: 'm', effort: { type: 'high' }, speed: 'standard' },
        });
        expect(await override({ system: 't' })).toEqual({ ...plain, system: 't' });
        expect(await override({ system: null })).toEqual({ ...plain, system: null });
        expect(await override({ skills: null })).toEqual({ ...plain, skills: [] });
        expect(await override({ skills: [] })).toEqual({ ...plain, skills: [] });
        const replaced = await override({ tools: [mcpToolset], mcp_servers: [mcpServer], skills: [] });
        expect(replaced.tools).toMatchObject([{ ...mcpToolset, configs: [] }]);
        expect(replaced.mcp_servers).toEqual([mcpServer]);
        expect(await agents.get(workspaceId, base.id)).toEqual(base);
      }),
    );

    it(
      '[A39] overrides go onto the version that is named',
      withAgents(async (sample) => {
        const { agents } = sample;
        const { id } = await agents.create(workspaceId, { name: 'R', model, system: 'v1', description: 'one' });
        await agents.update(workspaceId, id, { system: 'v2', description: 'two' });
        const agent = { type: 'agent_with_overrides', id, version: 1, system: 't' } as const;
        expect(await resolve(sample, agent)).toMatchObject({ version: 1, system: 't', description: 'one' });
      }),
    );

    it(
      '[A40] the result of overrides has to be valid like an agent',
      withAgents(async (sample) => {
        const { agents } = sample;
        const multiagent = { type: 'coordinator', agents: [self] } as const;
        const params = { name: 'R', model, tools: [toolset, mcpToolset], mcp_servers: [mcpServer], skills: [skill] };
        const { id } = await agents.create(workspaceId, { ...params, multiagent });
        const refusal = (parts: object) => codeOf(resolve(sample, { type: 'agent_with_overrides', id, ...parts }));
        expect(await refusal({ tools: [], mcp_servers: [] })).toBe('skills_need_read');
        expect(await refusal({ tools: [], mcp_servers: [], skills: [] })).toBe('ok');
        expect(await refusal({ tools: [toolset] })).toBe('mcp_server_unused');
        expect(await refusal({ mcp_servers: [] })).toBe('mcp_server_unknown');
        expect(await refusal({ tools: [toolset, mcpToolset, custom('bash')] })).toBe('tool_name_taken');
        expect(await refusal({ tools: [toolset, mcpToolset, custom('delegate')] })).toBe('tool_name_taken');
        expect(await refusal({ model: null })).toBe('invalid_model');
        expect(await refusal({ model: '' })).toBe('invalid_model');
      }),
    );

    it(
      '[A41] overrides reach copies of the agent itself, and no other member',
      withAgents(async (sample) => {
        const { agents } = sample;
        const member = await agents.create(workspaceId, { name: 'm', model, system: 'mine' });
        const multiagent = { type: 'coordinator', agents: [self, member.id] } as const;
        const { id } = await agents.create(workspaceId, { name: 'lead', model, system: 's', multiagent });
        const resolved = await resolve(sample, { type: 'agent_with_overrides', id, system: 't', model: 'other' });
        expect(resolved.multiagent).toMatchObject({
          agents: [
            { id, version: 1, system: 't', model: { id: 'other' } },
            { id: member.id, system: 'mine', model: { id: model } },
          ],
        });
      }),
    );
  });

  describe('updates of a session', () => {
    it(
      '[A42] tools and servers are replaced as a whole with defaults, and absent fields stay',
      withAgents(async (sample) => {
        const { agents } = sample;
        const { id } = await agents.create(workspaceId, { name: 'R', model, system: 's', tools: [toolset] });
        const before = await resolve(sample, id);
        expect(updateSessionAgent(before, {})).toEqual(before);
        const after = updateSessionAgent(before, { tools: [custom('ask'), mcpToolset], mcp_servers: [mcpServer] });
        const filled = { default_config: { enabled: true, permission_policy: { type: 'always_ask' } }, configs: [] };
        expect(after).toEqual({
          ...before,
          tools: [custom('ask'), { ...mcpToolset, ...filled }],
          mcp_servers: [mcpServer],
        });
        expect(updateSessionAgent(after, { tools: [], mcp_servers: [] })).toEqual({ ...before, tools: [] });
        expect(refusalOf(after, { mcp_servers: [] })).toBe('mcp_server_unknown');
        expect(refusalOf(after, { tools: [] })).toBe('mcp_server_unused');
      }),
    );

    it(
      '[A42] copies of the agent itself follow such an update, and other members do not',
      withAgents(async (sample) => {
        const { agents } = sample;
        const member = await agents.create(workspaceId, { name: 'm', model, tools: [toolset] });
        for (const multiagent of [
          { type: 'coordinator', agents: [member.id, self] } as const,
          {
            type: 'multiagent_20261001',
            subagents: { type: 'enabled', predefined_agents: [member.id, self] },
          } as const,
        ]) {
          const { id } = await agents.create(workspaceId, { name: 'lead', model, multiagent });
          const before = await resolve(sample, id);
          const after = updateSessionAgent(before, { tools: [custom('ask')] });
          const [other, own] = toRoster(after.multiagent);
          expect(other).toEqual(toRoster(before.multiagent)[0]);
          expect(own).toEqual({ ...toRoster(before.multiagent)[1], tools: [custom('ask')] });
          expect(after.multiagent?.type).toBe(multiagent.type);
          expect(refusalOf(before, { tools: [custom('send_to_agent')] })).toBe('tool_name_taken');
        }
      }),
    );
  });
});

function resolve({ store }: AgentsSample, agent: SessionAgentParams) {
  return resolveSessionAgent({ store, workspaceId, agent });
}

function refusalOf(agent: Parameters<typeof updateSessionAgent>[0], params: SessionAgentUpdateParams): string {
  try {
    updateSessionAgent(agent, params);
    return 'ok';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

function custom(name: string): CustomTool {
  return { type: 'custom', name, description: 'd', input_schema: { type: 'object' } };
}

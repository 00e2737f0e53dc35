import type { CustomTool, SessionAgentParams, SessionAgentUpdateParams } from '@fleetloom/protocol/managed-agents';
import { toRoster } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import { agentLimits } from './limits.ts';
import { baseLimits } from '../base/limits.ts';
import { httpLimits } from '../http/limits.ts';
import { codeOf } from '../store/suite/samples.suite.ts';
import { type AgentsSample, model, onEachStore, workspaceId } from './sample.suite.ts';
import { resolveSessionAgent, updateSessionAgent } from './session-agent.ts';

onEachStore((withAgents) => {
  it(
    '[A60] a definition has at most 1 MiB as JSON, in a new agent and after an update, and the error has the size',
    withAgents(async ({ agents, store, clock }) => {
      const sized = (chars: number) => ({ name: 'R', model, tools: [toolOf(chars)] });
      const { id: emptyId } = await agents.create(workspaceId, sized(0));
      const { data } = (await store.agents.get(workspaceId, emptyId))!;
      const room = baseLimits.definitionBytesMax - JSON.stringify(data).length;
      const { id } = await agents.create(workspaceId, sized(room));
      const refused = agents.create(workspaceId, sized(room + 1));
      await expect(refused).rejects.toThrow(`the definition has at least ${baseLimits.definitionBytesMax + 1} bytes`);
      expect(await codeOf(agents.create(workspaceId, sized(30_000_000)))).toBe('definition_too_large');
      expect(await codeOf(agents.update(workspaceId, id, { metadata: { a: 'b' } }))).toBe('definition_too_large');
      expect(await codeOf(agents.update(workspaceId, id, { name: 'r' }))).toBe('ok');
      const fromBefore = { ...data, tools: [toolOf(room + 1)] };
      await store.agents.create({ workspaceId, id: 'agent_old', createdAt: clock.now(), data: fromBefore });
      expect((await agents.get(workspaceId, 'agent_old')).tools).toEqual(fromBefore.tools);
      expect((await resolveSessionAgent({ store, workspaceId, agent: 'agent_old' })).tools).toEqual(fromBefore.tools);
      expect(await codeOf(agents.update(workspaceId, 'agent_old', { tools: [] }))).toBe('ok');
    }),
  );

  it(
    '[A60] the longest system prompt, description and metadata fit, also if every character is escaped',
    withAgents(async ({ agents }) => {
      const pairs = Array.from({ length: baseLimits.metadataPairsMax }, (_, at) => [
        String(at).padEnd(httpLimits.metadataKeyCharsMax, ESCAPED),
        ESCAPED.repeat(httpLimits.metadataValueCharsMax),
      ]);
      const made = await agents.create(workspaceId, {
        name: ESCAPED.repeat(baseLimits.nameCharsMax),
        model,
        description: ESCAPED.repeat(httpLimits.descriptionCharsMax),
        system: ESCAPED.repeat(httpLimits.systemCharsMax),
        metadata: Object.fromEntries(pairs),
      });
      expect(made.system).toHaveLength(httpLimits.systemCharsMax);
    }),
  );

  it(
    '[A61] an agent with its roster has at most 2.5 MiB as JSON in a session, also after an update of the session',
    withAgents(async (sample) => {
      const { agents } = sample;
      const members: string[] = [];
      const { definitionBytesMax: whole } = baseLimits;
      for (const [at, bytes] of [whole, whole, whole / 2].entries()) {
        const tools = [toolOf(bytes - 1_000)];
        members.push((await agents.create(workspaceId, { name: `m${at}`, model, tools })).id);
      }
      const multiagent = { type: 'coordinator', agents: members } as const;
      const { id } = await agents.create(workspaceId, { name: 'lead', model, multiagent });
      const resolved = await resolve(sample, id);
      const room =
        agentLimits.sessionAgentBytesMax - JSON.stringify(resolved).length - JSON.stringify(toolOf(0)).length;
      const [fits, exceeds] = [[toolOf(room)], [toolOf(room + 1)]];
      const overridden = await resolve(sample, { type: 'agent_with_overrides', id, tools: fits });
      expect(JSON.stringify(overridden)).toHaveLength(agentLimits.sessionAgentBytesMax);
      const refused = resolve(sample, { type: 'agent_with_overrides', id, tools: exceeds });
      await expect(refused).rejects.toThrow(`has at least ${agentLimits.sessionAgentBytesMax + 1} bytes as JSON`);
      expect(refusalOf(resolved, { tools: fits })).toBe('ok');
      expect(refusalOf(resolved, { tools: exceeds })).toBe('session_agent_too_large');
      const fifth = await agents.create(workspaceId, {
        name: 'm5',
        model,
        system: 'x'.repeat(httpLimits.systemCharsMax),
      });
      await agents.update(workspaceId, id, { multiagent: { type: 'coordinator', agents: [...members, fifth.id] } });
      expect(await codeOf(resolve(sample, id))).toBe('session_agent_too_large');
    }),
  );

  it(
    '[A61] an agent and 20 members with the longest system prompts fit into a session',
    withAgents(async (sample) => {
      const { agents } = sample;
      const system = 'x'.repeat(httpLimits.systemCharsMax);
      const members: string[] = [];
      for (let at = 0; at < agentLimits.rosterMembersMax; at++) {
        members.push((await agents.create(workspaceId, { name: `m${at}`, model, system })).id);
      }
      const multiagent = { type: 'coordinator', agents: members } as const;
      const { id } = await agents.create(workspaceId, { name: 'lead', model, system, multiagent });
      expect(toRoster((await resolve(sample, id)).multiagent)).toHaveLength(agentLimits.rosterMembersMax);
    }),
  );

  it(
    '[A62] overrides and updates of a session leave an agent at most 1 MiB as JSON',
    withAgents(async (sample) => {
      const { id } = await sample.agents.create(workspaceId, { name: 'lead', model });
      const resolved = await resolve(sample, id);
      const { multiagent: _, ...own } = resolved;
      const room = baseLimits.definitionBytesMax - JSON.stringify({ ...own, tools: [toolOf(0)] }).length;
      const [fits, exceeds] = [[toolOf(room)], [toolOf(room + 1)]];
      const override = (tools: CustomTool[]) => resolve(sample, { type: 'agent_with_overrides', id, tools });
      expect(await codeOf(override(fits))).toBe('ok');
      expect(await codeOf(override(exceeds))).toBe('definition_too_large');
      expect(refusalOf(resolved, { tools: fits })).toBe('ok');
      expect(refusalOf(resolved, { tools: exceeds })).toBe('definition_too_large');
    }),
  );

  it(
    '[A63] an environment has at most 1 MiB as JSON, new and after an update',
    withAgents(async ({ environments, store }) => {
      const hosts = Array.from({ length: httpLimits.environmentEntriesMax }, () => 'x'.repeat(baseLimits.nameCharsMax));
      const config = (npm: string[]) => ({
        type: 'cloud' as const,
        networking: { type: 'limited' as const, allowed_hosts: hosts, allow_package_managers: true },
        packages: { go: hosts, cargo: hosts, gem: hosts, npm },
      });
      const made = await environments.create(workspaceId, { name: 'e', config: config([]) });
      const { data } = (await store.environments.get(workspaceId, made.id))!;
      const room = baseLimits.definitionBytesMax - JSON.stringify(data).length - '""'.length;
      const fits = config(['y'.repeat(room)]);
      const exceeds = config(['y'.repeat(room + 1)]);
      expect(await codeOf(environments.create(workspaceId, { name: 'e', config: fits }))).toBe('ok');
      const refused = environments.create(workspaceId, { name: 'e', config: exceeds });
      await expect(refused).rejects.toThrow(`the definition has at least ${baseLimits.definitionBytesMax + 1} bytes`);
      const updated = environments.update(workspaceId, made.id, { config: exceeds });
      expect(await codeOf(updated)).toBe('definition_too_large');
    }),
  );
});

const ESCAPED = '\u0001';

function toolOf(chars: number): CustomTool {
  return { type: 'custom', name: 't', description: 'x'.repeat(chars), input_schema: { type: 'object' } };
}

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

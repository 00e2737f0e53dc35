import type { AgentUpdateParams, ModelConfigParams } from '@fleetloom/protocol/managed-agents';
import { describe, expect, it } from 'vitest';
import { baseLimits } from '../base/limits.ts';
import { storeError } from '../store/store-errors.ts';
import { codeOf, start } from '../store/suite/samples.suite.ts';
import { codes } from './agent-errors.ts';
import { createAgents } from './agents.ts';
import { type AgentsSample, model, onEachStore, workspaceId } from './sample.suite.ts';

onEachStore((withAgents) => {
  describe('creating', () => {
    it(
      '[A3] an agent of a name and a model has version 1 and every other key with its default',
      withAgents(async ({ agents }) => {
        expect(await agents.create(workspaceId, { name: 'Researcher', model })).toEqual({
          type: 'agent',
          id: 'agent_0101kdvdna00g00000g00000',
          version: 1,
          name: 'Researcher',
          description: null,
          system: null,
          model: { id: model, effort: { type: 'high' }, speed: 'standard' },
          tools: [],
          mcp_servers: [],
          skills: [],
          multiagent: null,
          metadata: {},
          execution_identity: { type: 'service_account' },
          created_at: '2026-01-01T00:00:00.000Z',
          updated_at: '2026-01-01T00:00:00.000Z',
          archived_at: null,
        });
      }),
    );

    it(
      '[A3] an agent is read as it was created, and empty texts are absent',
      withAgents(async ({ agents }) => {
        const texts = { name: 'R', model, description: '', system: '', metadata: { team: 'a' } };
        const made = await agents.create(workspaceId, texts);
        expect(made).toMatchObject({ description: null, system: null, metadata: { team: 'a' } });
        expect(await agents.get(workspaceId, made.id)).toEqual(made);
        const described = await agents.create(workspaceId, { name: 'R', model, description: 'd', system: 's' });
        expect(described).toMatchObject({ name: 'R', description: 'd', system: 's' });
      }),
    );

    it(
      '[A4] a model is a string or an object, its effort a string or an object; both are returned as objects',
      withAgents(async ({ agents }) => {
        const create = async (given: ModelConfigParams) =>
          (await agents.create(workspaceId, { name: 'R', model: given })).model;
        const high = { id: 'm', effort: { type: 'max' }, speed: 'standard' };
        expect(await create({ id: 'm', effort: 'max' })).toEqual(high);
        expect(await create({ id: 'm', effort: { type: 'max' } })).toEqual(high);
        expect(await create({ id: 'm', effort: null, speed: null, inference_geo: null })).toEqual({
          id: 'm',
          effort: { type: 'high' },
          speed: 'standard',
        });
        expect(await create({ id: 'm', speed: 'fast', inference_geo: 'eu' })).toMatchObject({
          speed: 'fast',
          inference_geo: 'eu',
        });
        expect(await codeOf(agents.create(workspaceId, { name: 'R', model: '' }))).toBe('invalid_model');
        expect(await codeOf(agents.create(workspaceId, { name: '', model }))).toBe('invalid_name');
      }),
    );

    it(
      '[A14] an agent acts as the server itself, and another identity is refused',
      withAgents(async ({ agents }) => {
        const create = (execution_identity: AgentUpdateParams['execution_identity']) =>
          agents.create(workspaceId, { name: 'R', model, execution_identity: execution_identity ?? null });
        for (const identity of [null, { type: 'service_account' } as const]) {
          expect((await create(identity)).execution_identity).toEqual({ type: 'service_account' });
        }
        const role = { type: 'aws_role', role_arn: 'arn:aws:iam::1:role/x' } as const;
        expect(await codeOf(create(role))).toBe('identity_not_supported');
        const { id } = await create(null);
        expect(await codeOf(agents.update(workspaceId, id, { execution_identity: role }))).toBe(
          'identity_not_supported',
        );
      }),
    );
  });

  describe('updating', () => {
    it(
      '[A15] an update creates a version; absent fields stay, and the old version is unchanged',
      withAgents(async ({ agents, clock }) => {
        const metadata = { team: 'a' };
        const first = await agents.create(workspaceId, { name: 'R', model, description: 'd', system: 's', metadata });
        clock.advance(1500);
        const second = await agents.update(workspaceId, first.id, { system: 't' });
        expect(second).toEqual({ ...first, version: 2, system: 't', updated_at: '2026-01-01T00:00:01.500Z' });
        expect(await agents.get(workspaceId, first.id)).toEqual(second);
        expect(await agents.get(workspaceId, first.id, 2)).toEqual(second);
        expect(await agents.get(workspaceId, first.id, 1)).toEqual(first);
      }),
    );

    it(
      '[A5] the same model keeps its effort unless one is set, another starts with its default, and the rest is as sent',
      withAgents(async ({ agents }) => {
        const given = { id: 'm', effort: 'low', speed: 'fast', inference_geo: 'eu' } as const;
        const { id } = await agents.create(workspaceId, { name: 'R', model: given });
        const update = async (changed: string | ModelConfigParams) =>
          (await agents.update(workspaceId, id, { model: changed })).model;
        expect(await update({ id: 'm', speed: 'fast' })).toEqual({ id: 'm', effort: { type: 'low' }, speed: 'fast' });
        expect(await update('m')).toEqual({ id: 'm', effort: { type: 'low' }, speed: 'standard' });
        expect(await update({ id: 'm', effort: null })).toEqual({
          id: 'm',
          effort: { type: 'high' },
          speed: 'standard',
        });
        expect(await update({ id: 'm', effort: 'max' })).toMatchObject({ effort: { type: 'max' } });
        expect(await update('n')).toEqual({ id: 'n', effort: { type: 'high' }, speed: 'standard' });
      }),
    );

    it(
      '[A16] null and the empty text clear texts, null and the empty list clear lists',
      withAgents(async ({ agents }) => {
        const tools = [{ type: 'agent_toolset_20260401' }, { type: 'mcp_toolset', mcp_server_name: 'm' }] as const;
        const mcp_servers = [{ type: 'url', name: 'm', url: 'http://localhost:1/mcp' }] as const;
        const skills = [{ type: 'anthropic', skill_id: 'xlsx' }] as const;
        const full = { name: 'R', model, description: 'd', system: 's', tools, mcp_servers, skills };
        for (const [text, list] of [[null, null] as const, ['', []] as const]) {
          const { id } = await agents.create(workspaceId, full);
          const cleared = { description: null, system: null, tools: [], mcp_servers: [], skills: [] };
          const params = { description: text, system: text, tools: list, mcp_servers: list, skills: list };
          expect(await agents.update(workspaceId, id, params)).toMatchObject(cleared);
        }
      }),
    );

    it(
      '[A16] a name and a model cannot be cleared',
      withAgents(async ({ agents }) => {
        const { id } = await agents.create(workspaceId, { name: 'R', model });
        expect(await codeOf(agents.update(workspaceId, id, { name: '' }))).toBe('invalid_name');
        expect(await codeOf(agents.update(workspaceId, id, { model: '' }))).toBe('invalid_model');
        expect(await codeOf(agents.update(workspaceId, id, { model: { id: '' } }))).toBe('invalid_model');
        expect(await agents.get(workspaceId, id)).toMatchObject({ name: 'R', version: 1 });
      }),
    );

    it(
      '[A17] metadata is changed key by key, null removes a key, and sixteen are the most',
      withAgents(async ({ agents }) => {
        const { id } = await agents.create(workspaceId, { name: 'R', model, metadata: { a: '1', b: '2' } });
        const update = async (metadata: Record<string, string | null> | null) =>
          (await agents.update(workspaceId, id, { metadata })).metadata;
        expect(await update({ a: null, c: '3' })).toEqual({ b: '2', c: '3' });
        expect(await update({ b: '', unknown: null })).toEqual({ b: '', c: '3' });
        expect(await update(null)).toEqual({ b: '', c: '3' });
        // A key like any other.
        expect(Object.entries(await update(JSON.parse('{"__proto__":"x"}')))).toContainEqual(['__proto__', 'x']);
        expect(Object.entries(await update(JSON.parse('{"__proto__":null}')))).toEqual([
          ['b', ''],
          ['c', '3'],
        ]);
        const more = Object.fromEntries(
          Array.from({ length: baseLimits.metadataPairsMax - 2 }, (_, at) => [`k${at}`, 'v']),
        );
        expect(Object.keys(await update(more))).toHaveLength(baseLimits.metadataPairsMax);
        expect(await codeOf(update({ one: 'more' }))).toBe('too_many_metadata');
        expect(Object.keys(await update({ one: 'more', b: null }))).toHaveLength(baseLimits.metadataPairsMax);
        const metadata = { ...more, x: '', y: '', z: '' };
        expect(await codeOf(agents.create(workspaceId, { name: 'R', model, metadata }))).toBe('too_many_metadata');
      }),
    );

    it(
      '[A18] an update that changes nothing makes no version',
      withAgents(async ({ agents, clock }) => {
        const schema = { type: 'object', properties: { a: { type: 'string' }, b: {} } } as const;
        const custom = { type: 'custom', name: 'ask', description: 'd', input_schema: schema } as const;
        const made = await agents.create(workspaceId, {
          name: 'R',
          model: { id: 'm', effort: 'low' },
          tools: [{ type: 'agent_toolset_20260401' }, custom],
          metadata: { a: '1', b: '2' },
        });
        clock.advance(1000);
        const properties = { b: {}, a: { type: 'string' } };
        const same: AgentUpdateParams[] = [
          {},
          { name: 'R', description: null, system: '', multiagent: null, skills: null },
          { model: 'm' },
          { metadata: { b: '2', a: '1', c: null } },
          {
            tools: [
              { type: 'agent_toolset_20260401', configs: [] },
              { ...custom, input_schema: { properties, type: 'object' } },
            ],
          },
          { tools: made.tools, model: made.model, execution_identity: made.execution_identity, version: 1 },
        ];
        for (const params of same) expect(await agents.update(workspaceId, made.id, params)).toEqual(made);
        expect((await agents.listVersions({ workspaceId, id: made.id, limit: 10 })).items).toEqual([made]);
      }),
    );

    it(
      '[A19] an update made on an older version is a conflict, also if it changes nothing; without a version it is applied',
      withAgents(async ({ agents }) => {
        const { id } = await agents.create(workspaceId, { name: 'R', model });
        expect(await agents.update(workspaceId, id, { system: 'a', version: 1 })).toMatchObject({ version: 2 });
        expect(await codeOf(agents.update(workspaceId, id, { system: 'b', version: 1 }))).toBe('version_conflict');
        expect(await codeOf(agents.update(workspaceId, id, { version: 1 }))).toBe('version_conflict');
        expect(await codeOf(agents.update(workspaceId, id, { version: 3 }))).toBe('version_conflict');
        expect(await agents.update(workspaceId, id, { version: 2 })).toMatchObject({ version: 2, system: 'a' });
        expect(await agents.update(workspaceId, id, { system: 'c' })).toMatchObject({ version: 3, system: 'c' });
      }),
    );
  });

  describe('at the same time', () => {
    it(
      '[A20] updates at the same time are all applied, each on the one before',
      withAgents(async ({ agents }) => {
        const { id } = await agents.create(workspaceId, { name: 'R', model });
        const keys = Array.from({ length: 10 }, (_, at) => `k${at}`);
        await Promise.all(keys.map((key) => agents.update(workspaceId, id, { metadata: { [key]: 'v' } })));
        const made = await agents.get(workspaceId, id);
        expect(made.version).toBe(11);
        expect(Object.keys(made.metadata).sort()).toEqual(keys);
      }),
    );

    it(
      '[A20] of updates at the same time that name the same version one is applied',
      withAgents(async ({ agents }) => {
        const { id } = await agents.create(workspaceId, { name: 'R', model });
        const update = (system: string) => codeOf(agents.update(workspaceId, id, { system, version: 1 }));
        expect((await Promise.all(['a', 'b', 'c'].map(update))).sort()).toEqual([
          'ok',
          'version_conflict',
          'version_conflict',
        ]);
      }),
    );

    it(
      '[A20] an update gives up after its last attempt',
      withAgents(async (sample) => {
        const { agents } = sample;
        const { id } = await agents.create(workspaceId, { name: 'R', model });
        const lucky = withConflicts(sample, baseLimits.updateAttemptsMax - 1);
        expect(await lucky.update(workspaceId, id, { system: 'a' })).toMatchObject({ version: 2 });
        const unlucky = withConflicts(sample, baseLimits.updateAttemptsMax);
        expect(await codeOf(unlucky.update(workspaceId, id, { system: 'b' }))).toBe('version_conflict');
        expect(await agents.get(workspaceId, id)).toMatchObject({ version: 2, system: 'a' });
      }),
    );

    it(
      '[A21] an update that meets an archiving is refused as one of an archived agent',
      withAgents(async ({ agents, store, clock }) => {
        const { id } = await agents.create(workspaceId, { name: 'R', model });
        const addVersion: typeof store.agents.addVersion = async (change) => {
          await agents.archive(workspaceId, id);
          return store.agents.addVersion(change);
        };
        const racing = createAgents({ store: { agents: { ...store.agents, addVersion } }, clock, ids: { next: fail } });
        expect(await codeOf(racing.update(workspaceId, id, { system: 'a' }))).toBe('agent_archived');
      }),
    );
  });

  describe('archiving and listing', () => {
    it(
      '[A21] archiving sets its time once, and an archived agent is read but not updated',
      withAgents(async ({ agents, clock }) => {
        const made = await agents.create(workspaceId, { name: 'R', model });
        clock.advance(1000);
        const archived = await agents.archive(workspaceId, made.id);
        expect(archived).toEqual({ ...made, archived_at: '2026-01-01T00:00:01.000Z' });
        clock.advance(1000);
        expect(await agents.archive(workspaceId, made.id)).toEqual(archived);
        expect(await agents.get(workspaceId, made.id)).toEqual(archived);
        expect(await codeOf(agents.update(workspaceId, made.id, { system: 'a' }))).toBe('agent_archived');
        expect(await codeOf(agents.update(workspaceId, made.id, {}))).toBe('agent_archived');
      }),
    );

    it(
      '[A22] an id or a version that does not exist, here or in this workspace, is not found',
      withAgents(async ({ agents }) => {
        const { id } = await agents.create(workspaceId, { name: 'R', model });
        expect(await codeOf(agents.get(workspaceId, id, 1))).toBe('ok');
        const missing = [
          agents.get(workspaceId, id, 2),
          agents.get(workspaceId, 'agent_x'),
          agents.get('wrkspc_2', id),
          agents.update(workspaceId, 'agent_x', {}),
          agents.update('wrkspc_2', id, { system: 'a' }),
          agents.archive(workspaceId, 'agent_x'),
          agents.archive('wrkspc_2', id),
          agents.listVersions({ workspaceId: 'wrkspc_2', id, limit: 1 }),
        ];
        for (const promise of missing) expect(await codeOf(promise)).toBe('agent_not_found');
        expect(await agents.get(workspaceId, id)).toMatchObject({ version: 1, archived_at: null });
      }),
    );

    it(
      '[A23] lists are sorted newest first, hide archived agents unless requested, and exclude other workspaces',
      withAgents(async ({ agents, clock }) => {
        const names: string[] = [];
        for (const name of ['a', 'b', 'c']) {
          clock.advance(10);
          names.push((await agents.create(workspaceId, { name, model })).id);
        }
        await agents.create('wrkspc_2', { name: 'd', model });
        await agents.archive(workspaceId, names[1]!);
        const list = async (request: object) =>
          (await agents.list({ workspaceId, limit: 10, ...request })).items.map(({ name }) => name).join('');
        expect(await list({})).toBe('ca');
        expect(await list({ includeArchived: true })).toBe('cba');
        expect(await list({ includeArchived: true, createdFrom: start + 20, createdTo: start + 20 })).toBe('b');
      }),
    );

    it(
      '[A23] 45 agents in pages of 20 come once each while others are created',
      withAgents(async ({ agents, clock }) => {
        const made = new Set<string>();
        for (let at = 0; at < 45; at++) {
          clock.advance(at % 3);
          made.add((await agents.create(workspaceId, { name: `${at}`, model })).id);
        }
        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const page = await agents.list({ workspaceId, limit: 20, ...(cursor === null ? {} : { cursor }) });
          seen.push(...page.items.map(({ id }) => id));
          cursor = page.next;
          clock.advance(1);
          await agents.create(workspaceId, { name: 'late', model });
        } while (cursor !== null);
        expect(seen).toEqual([...made].toReversed());
      }),
    );

    it(
      '[A23] versions come once each, the newest first',
      withAgents(async ({ agents }) => {
        const { id } = await agents.create(workspaceId, { name: 'R', model });
        for (const system of ['a', 'b', 'c']) await agents.update(workspaceId, id, { system });
        const first = await agents.listVersions({ workspaceId, id, limit: 3 });
        const rest = await agents.listVersions({ workspaceId, id, limit: 3, cursor: first.next! });
        const shown = [...first.items, ...rest.items].map(({ version, system }) => `${version}${system}`);
        expect(shown).toEqual(['4c', '3b', '2a', '1null']);
        expect(rest.next).toBeNull();
      }),
    );
  });
});

it('[A54] each code of an agent has its advice, and none has the same as another by mistake', () => {
  const advices = Object.values(codes);
  expect(advices.every((advice) => advice.length > 10 && !advice.endsWith('.'))).toBe(true);
  expect(new Set(advices).size).toBe(advices.length);
});

/** Agents on a store in which another writer comes first so many times. */
function withConflicts({ store, clock }: AgentsSample, count: number) {
  let left = count;
  const addVersion: typeof store.agents.addVersion = async (change) => {
    if (left-- > 0) throw storeError('version_conflict', 'another writer came first');
    return store.agents.addVersion(change);
  };
  return createAgents({ store: { agents: { ...store.agents, addVersion } }, clock, ids: { next: fail } });
}

function fail(): never {
  throw new Error('nothing is created here');
}

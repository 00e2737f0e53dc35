import type Anthropic from '@anthropic-ai/sdk';
import { check, defineChecks } from '../harness/check.ts';
import type { Context } from '../harness/context.ts';
import { expectEqual, expectRefusal, expectRefused, expectThat } from '../harness/expect.ts';
import { withoutRequestId } from './agents.ts';

const UNKNOWN = 'agent_01AAAAAAAAAAAAAAAAAAAAAA';

/** Updates, versions and version conflicts of agents. */
export const agentVersionChecks = defineChecks('Agents', [
  check(29, 'C', 'An update of one field makes version 2 and leaves the others', [], async (t) => {
    const agent = await t.agent({ description: 'before', metadata: { a: '1' } });
    const updated = await t.client.beta.agents.update(agent.id, { version: 1, description: 'after' });
    const expected = { ...agent, version: 2, description: 'after', updated_at: updated.updated_at };
    expectEqual(withoutRequestId(updated), withoutRequestId(expected), 'the agent');
  }),

  check(30, 'C', 'An update that changes nothing keeps the version', [], async (t) => {
    const agent = await t.agent({ description: 'same' });
    const updated = await t.client.beta.agents.update(agent.id, { version: 1, description: 'same', name: agent.name });
    expectEqual(withoutRequestId(updated), withoutRequestId(agent), 'the agent');
  }),

  check(31, 'C', 'An update with a stale version is 409, even if it changes nothing', [], async (t) => {
    const agent = await t.agent();
    await t.client.beta.agents.update(agent.id, { version: 1, description: 'new' });
    await expectRefusal(t.client.beta.agents.update(agent.id, { version: 1, name: 'new' }), 409, 'a stale version');
    await expectRefusal(t.client.beta.agents.update(agent.id, { version: 1 }), 409, 'a stale version without changes');
  }),

  check(32, 'C', 'An update without a version is applied', [], async (t) => {
    const { id } = await t.agent();
    const answer = await post(t, `/${id}`, { description: 'new' });
    expectEqual([answer.status, answer.json.version, answer.json.description], [200, 2, 'new'], 'the agent');
  }),

  check(33, 'C', 'A description is cleared with null; an empty name is 400', [], async (t) => {
    const { id } = await t.agent({ description: 'x', system: 'y' });
    const cleared = await t.client.beta.agents.update(id, { version: 1, description: null, system: null });
    expectEqual([cleared.description, cleared.system], [null, null], 'description and system');
    expectRefused(await post(t, `/${id}`, { name: '' }), 400, 'an empty name', /name/);
    expectRefused(await post(t, `/${id}`, { model: null }), 400, 'a model of null', /model/);
  }),

  check(34, 'C', 'Tools are cleared with [] and with null', [], async (t) => {
    for (const tools of [[], null]) {
      const { id } = await t.agent({ tools: [{ type: 'agent_toolset_20260401' }] });
      expectEqual(
        (await t.client.beta.agents.update(id, { version: 1, tools })).tools,
        [],
        `tools ${JSON.stringify(tools)}`,
      );
    }
  }),

  check(35, 'C', 'A key of the metadata is removed with null, and the others stay', [], async (t) => {
    const { id } = await t.agent({ metadata: { a: '1', b: '2' } });
    const updated = await t.client.beta.agents.update(id, { version: 1, metadata: { a: null, c: '3' } });
    expectEqual(updated.metadata, { b: '2', c: '3' }, 'metadata');
  }),

  check(36, 'E', '17 pairs of metadata are 400', [], async (t) => {
    const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));
    const body = { name: 'x', model: 'scripted/echo' };
    expectRefused(await post(t, '', { ...body, metadata: pairs(17) }), 400, '17 pairs', /metadata/);
    expectEqual(Object.keys((await t.agent({ metadata: pairs(16) })).metadata).length, 16, 'pairs');
  }),

  check(37, 'C', 'An old version can still be read', [], async (t) => {
    const agent = await t.agent({ description: 'first' });
    await t.client.beta.agents.update(agent.id, { version: 1, description: 'second' });
    const old = await t.client.beta.agents.retrieve(agent.id, { version: 1 });
    expectEqual([old.version, old.description], [1, 'first'], 'version 1');
    expectEqual((await t.client.beta.agents.retrieve(agent.id)).description, 'second', 'the newest');
  }),

  check(38, 'C', 'An unknown version, and an unknown agent, is 404', [], async (t) => {
    const { id } = await t.agent();
    await expectRefusal(t.client.beta.agents.retrieve(id, { version: 2 }), 404, 'version 2 of 1');
    await expectRefusal(t.client.beta.agents.retrieve(UNKNOWN), 404, 'an unknown agent');
  }),

  check(39, 'C', 'versions.list gives every version once', [], async (t) => {
    const { id } = await t.agent();
    for (let version = 1; version < 5; version += 1) {
      await t.client.beta.agents.update(id, { version, description: `after ${version}` });
    }
    const versions: number[] = [];
    for await (const each of t.client.beta.agents.versions.list(id, { limit: 2 })) versions.push(each.version);
    expectEqual(
      versions.toSorted((a, b) => a - b),
      [1, 2, 3, 4, 5],
      'versions',
    );
  }),

  check(40, 'C', 'Archiving sets archived_at, and a second time changes nothing', [], async (t) => {
    const { id } = await t.agent();
    const first = await t.client.beta.agents.archive(id);
    expectThat(first.archived_at !== null, 'archived_at', first.archived_at);
    expectEqual((await t.client.beta.agents.archive(id)).archived_at, first.archived_at, 'archived_at');
  }),

  check(41, 'C', 'An update of an archived agent is 400', [], async (t) => {
    const { id } = await t.agent();
    await t.client.beta.agents.archive(id);
    await expectRefusal(t.client.beta.agents.update(id, { version: 1, name: 'new' }), 400, 'an archived agent');
  }),

  check(42, 'C', 'Archived agents are listed only with include_archived', [], async (t) => {
    const { id, created_at } = await t.agent();
    await t.client.beta.agents.archive(id);
    const around = { 'created_at[gte]': created_at, 'created_at[lte]': created_at };
    expectThat(!(await idsOf(t, around)).includes(id), 'an archived agent to be hidden', id);
    expectThat((await idsOf(t, { ...around, include_archived: true })).includes(id), 'it with include_archived', id);
  }),

  check(43, 'C', '45 agents in pages of 20 come without gaps or repeats while others are made', [], async (t) => {
    const wanted = (await Promise.all(Array.from({ length: 45 }, () => t.agent()))).map(({ id }) => id);
    const seen: string[] = [];
    for await (const { id } of t.client.beta.agents.list({ limit: 20 })) {
      seen.push(id);
      if (seen.length % 15 === 0) await t.agent();
      if (wanted.every((each) => seen.includes(each))) break;
    }
    expectEqual(seen.length, new Set(seen).size, 'each agent once');
    expectEqual(seen.filter((id) => wanted.includes(id)).toSorted(), wanted.toSorted(), 'all of them');
  }),
]);

function post(t: Context, path: string, body: object) {
  return t.raw({ method: 'POST', path: `/v1/agents${path}`, body });
}

async function idsOf(t: Context, params: Anthropic.Beta.AgentListParams): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of t.client.beta.agents.list(params)) ids.push(id);
  return ids;
}

import type Anthropic from '@anthropic-ai/sdk';
import { check, defineChecks } from '../check.ts';
import type { Context } from '../context.ts';
import { expectEqual, expectFound, expectRefusal, expectRefused, expectThat } from '../expect.ts';
import { toCases } from '../script.ts';
import { ofType, saidIn, toMessage } from '../talk.ts';
import { withoutRequestId } from './agents.ts';

const SLOW = [[{ sleep_ms: 50_000 }]] as const;

export const sessionChecks = defineChecks('Sessions', [
  check(58, 'C', 'A session of an agent takes its newest version, is idle and has all keys', [], async (t) => {
    const agent = await t.agent({ description: 'v1' });
    const updated = await t.client.beta.agents.update(agent.id, { version: 1, description: 'v2' });
    const { created } = await t.session({ agentId: agent.id });
    const { metadata: _, created_at: _c, updated_at: _u, archived_at: _a, ...snapshot } = updated;
    expectEqual(created.agent, withoutRequestId(snapshot), 'agent');
    const { id: _i, agent: _g, environment_id, created_at, updated_at, stats, ...rest } = created;
    expectEqual(environment_id, await t.environment(), 'environment_id');
    expectEqual([updated_at, stats.active_seconds], [created_at, 0], 'updated_at and active_seconds');
    expectEqual(withoutCost(withoutRequestId(rest)), EMPTY_SESSION, 'the session');
    expectEqual((await t.client.beta.sessions.events.list(created.id)).data, [], 'events');
  }),

  check(59, 'C', 'A session of a version takes that version', [], async (t) => {
    const agent = await t.agent({ description: 'v1' });
    await t.client.beta.agents.update(agent.id, { version: 1, description: 'v2' });
    const { created } = await t.session({ create: { agent: { type: 'agent', id: agent.id, version: 1 } } });
    expectEqual([created.agent.version, created.agent.description], [1, 'v1'], 'agent');
  }),

  check(60, 'C', 'An unknown agent or environment is 404', [], async (t) => {
    const { id: agent } = await t.agent();
    const environment_id = await t.environment();
    const { sessions } = t.client.beta;
    const unknown = '01AAAAAAAAAAAAAAAAAAAAAA';
    await expectRefusal(sessions.create({ agent: `agent_${unknown}`, environment_id }), 404, 'an unknown agent');
    await expectRefusal(sessions.create({ agent, environment_id: `env_${unknown}` }), 404, 'an unknown environment');
    await expectRefusal(sessions.retrieve(`sesn_${unknown}`), 404, 'an unknown session');
  }),

  check(61, 'C', 'An archived agent or environment is 400', [], async (t) => {
    const { id: agent } = await t.agent();
    const { id: gone } = await t.agent();
    await t.client.beta.agents.archive(gone);
    const environment = await t.client.beta.environments.create({ name: 'gone' });
    t.environmentIds.push(environment.id);
    await t.client.beta.environments.archive(environment.id);
    const { sessions } = t.client.beta;
    const environment_id = await t.environment();
    await expectRefusal(sessions.create({ agent: gone, environment_id }), 400, 'an archived agent');
    await expectRefusal(sessions.create({ agent, environment_id: environment.id }), 400, 'an archived environment');
  }),

  check(62, 'C', 'A session keeps the agent as it was', [], async (t) => {
    const agent = await t.agent({ description: 'v1' });
    const talk = await t.session({ agentId: agent.id });
    await t.client.beta.agents.update(agent.id, { version: 1, description: 'v2' });
    expectEqual((await talk.retrieve()).agent, talk.created.agent, 'agent');
  }),

  check(63, 'C', 'A session of a coordinator spells its members out', [], async (t) => {
    const member = await t.agent({ name: 'member', description: 'helps', system: 'Help.' });
    const multiagent = { type: 'coordinator', agents: [member.id, { type: 'self' }] } as const;
    const { created } = await t.session({ name: 'lead', multiagent: multiagent as never });
    const { agents } = created.agent.multiagent as unknown as { agents: { name: string; system: string | null }[] };
    expectEqual(
      agents.map(({ name, system }) => [name, system]),
      [
        ['member', 'Help.'],
        ['lead', null],
      ],
      'members',
    );
  }),

  check(
    64,
    'C',
    'With initial events a session is created running, and they are in its list',
    ['scripts'],
    async (t) => {
      const talk = await t.session({ turns: [[{ say: 'heard: {{last_user}}' }]], create: initial(toMessage('begin')) });
      expectEqual(talk.created.status, 'running', 'status');
      const stream = await t.watch(talk.id);
      await stream.until('session.status_idle');
      const events = await talk.list();
      expectEqual(
        ofType(events, 'user.message').map(({ content }) => content),
        [[{ type: 'text', text: 'begin' }]],
        'messages',
      );
      expectEqual(saidIn(events), 'heard: begin', 'the answer');
    },
  ),

  check(65, 'C', 'One bad initial event is 400, and there is no session', [], async (t) => {
    const { id: agent } = await t.agent();
    const initial_events = [toMessage('fine'), { type: 'user.message', content: [] }];
    const body = { agent, environment_id: await t.environment(), initial_events };
    expectRefused(
      await t.raw({ method: 'POST', path: '/v1/sessions', body }),
      400,
      'a bad second event',
      /initial_events/,
    );
    expectEqual(await idsOf(t, { agent_id: agent, include_archived: true }), [], 'sessions');
  }),

  check(66, 'C', 'An initial user.interrupt is 400', [], async (t) => {
    const { id: agent } = await t.agent();
    const body = { agent, environment_id: await t.environment(), initial_events: [{ type: 'user.interrupt' }] };
    expectRefused(await t.raw({ method: 'POST', path: '/v1/sessions', body }), 400, 'an interrupt');
  }),

  check(67, 'E', '51 initial events are 400', [], async (t) => {
    const { id: agent } = await t.agent();
    const initial_events = Array.from({ length: 51 }, () => toMessage('again'));
    const body = { agent, environment_id: await t.environment(), initial_events };
    expectRefused(await t.raw({ method: 'POST', path: '/v1/sessions', body }), 400, '51 events', /initial_events/);
  }),

  check(68, 'E', 'An override of null clears the system prompt; id and version stay', [], async (t) => {
    const agent = await t.agent({ system: 'Be brief.' });
    const override = { type: 'agent_with_overrides', id: agent.id, system: null, model: 'scripted/slow' };
    const { created } = await t.session({ create: { agent: override as never } });
    const { id, version, system, model } = created.agent;
    expectEqual([id, version, system, model.id], [agent.id, 1, null, 'scripted/slow'], 'agent');
    const path = '/v1/sessions';
    const body = { agent: { ...override, model: null }, environment_id: await t.environment() };
    expectRefused(await t.raw({ method: 'POST', path, body }), 400, 'a model of null', /model/);
  }),

  check(69, 'E', 'Overrides do not touch the agent', [], async (t) => {
    const agent = await t.agent({ system: 'Be brief.' });
    const override = { type: 'agent_with_overrides', id: agent.id, system: 'Be long.', tools: [] };
    const { created } = await t.session({ create: { agent: override as never } });
    expectEqual(created.agent.system, 'Be long.', 'system of the session');
    expectEqual(withoutRequestId(await t.client.beta.agents.retrieve(agent.id)), withoutRequestId(agent), 'the agent');
  }),

  check(
    70,
    'C',
    'An update of title and metadata is applied, and session.updated has only what changed',
    [],
    async (t) => {
      const talk = await t.session({ create: { title: 'before', metadata: { a: '1', b: '2' } } });
      const stream = await talk.watch();
      const titled = await t.client.beta.sessions.update(talk.id, { title: 'after' });
      expectEqual([titled.title, titled.metadata], ['after', { a: '1', b: '2' }], 'title and metadata');
      const tagged = await t.client.beta.sessions.update(talk.id, { metadata: { a: null, c: '3' } });
      expectEqual([tagged.title, tagged.metadata], ['after', { b: '2', c: '3' }], 'title and metadata');
      await stream.until('session.updated', { where: ({ metadata }) => metadata !== undefined });
      const changes = ofType(await talk.list(), 'session.updated').map(
        ({ type: _t, id: _i, processed_at: _p, ...rest }) => rest,
      );
      expectEqual(changes, [{ title: 'after' }, { metadata: { b: '2', c: '3' } }], 'changes');
    },
  ),

  check(71, 'E', 'An update that changes nothing leaves no event', [], async (t) => {
    const talk = await t.session({ create: { title: 'same', metadata: { a: '1' } } });
    await t.client.beta.sessions.update(talk.id, { title: 'same', metadata: { a: '1' } });
    expectEqual(await talk.list(), [], 'events');
  }),

  check(
    72,
    'E',
    'Tools are refused while it runs, and when idle count from the next turn on',
    ['scripts'],
    async (t) => {
      const talk = await t.session({
        system: toCases(
          [{ match: 'again', turn: [{ expect: { tools: ['write'] } }, { say: 'has tools' }] }],
          [{ sleep_ms: 50_000 }],
        ),
      });
      const stream = await talk.watch();
      await talk.say('go');
      await stream.until('session.status_running');
      const tools = [{ type: 'agent_toolset_20260401' }] as never;
      await expectRefusal(t.client.beta.sessions.update(talk.id, { agent: { tools } }), 400, 'tools while it runs');
      await talk.send({ type: 'user.interrupt' });
      await stream.until('session.status_idle');
      const updated = await t.client.beta.sessions.update(talk.id, { agent: { tools } });
      expectEqual(
        updated.agent.tools.map(({ type }) => type),
        ['agent_toolset_20260401'],
        'tools',
      );
      expectThat(
        saidIn(await talk.turn('again')).endsWith('has tools'),
        'the next turn to have them',
        await talk.list(),
      );
    },
  ),

  check(73, 'E', 'vault_ids in an update are 400', [], async (t) => {
    const talk = await t.session();
    const answer = await t.raw({ method: 'POST', path: `/v1/sessions/${talk.id}`, body: { vault_ids: ['vlt_01A'] } });
    expectRefused(answer, 400, 'vault_ids', /vault_ids/);
  }),

  check(74, 'C', 'Sessions are listed newest first, and with order=asc the other way', [], async (t) => {
    const { agentId, ids } = await several(t, 3);
    expectEqual(await idsOf(t, { agent_id: agentId }), ids.toReversed(), 'sessions');
    expectEqual(await idsOf(t, { agent_id: agentId, order: 'asc' }), ids, 'sessions with order=asc');
  }),

  check(75, 'C', 'statuses[] filters sessions', ['scripts'], async (t) => {
    const agent = await t.agent({ turns: SLOW });
    const idle = await t.session({ agentId: agent.id });
    const running = await t.session({ agentId: agent.id, create: initial(toMessage('go')) });
    const listed = (statuses: ('idle' | 'running' | 'terminated')[]) => idsOf(t, { agent_id: agent.id, statuses });
    expectEqual(await listed(['idle', 'running']), [running.id, idle.id], 'idle and running');
    expectEqual(await listed(['idle']), [idle.id], 'idle');
    expectEqual(await listed(['running']), [running.id], 'running');
    expectEqual(await listed(['terminated']), [], 'terminated');
  }),

  check(76, 'C', 'agent_id filters sessions, and agent_version narrows it', [], async (t) => {
    const agent = await t.agent({ description: 'v1' });
    const first = await t.session({ agentId: agent.id });
    await t.client.beta.agents.update(agent.id, { version: 1, description: 'v2' });
    const second = await t.session({ agentId: agent.id });
    await t.session();
    expectEqual(await idsOf(t, { agent_id: agent.id }), [second.id, first.id], 'of the agent');
    expectEqual(await idsOf(t, { agent_id: agent.id, agent_version: 1 }), [first.id], 'of version 1');
  }),

  check(77, 'E', 'created_at[gt] excludes its moment, [gte] includes it', [], async (t) => {
    const { id, agent, created_at } = (await t.session()).created;
    const listed = (params: object) => idsOf(t, { agent_id: agent.id, ...params });
    expectEqual(await listed({ 'created_at[gte]': created_at }), [id], 'gte');
    expectEqual(await listed({ 'created_at[gt]': created_at }), [], 'gt');
    expectEqual(await listed({ 'created_at[lte]': created_at }), [id], 'lte');
    expectEqual(await listed({ 'created_at[lt]': created_at }), [], 'lt');
  }),

  check(78, 'E', 'prev_page is null on the first page and leads back from the second', [], async (t) => {
    const { agentId, ids } = await several(t, 3);
    const pageOf = async (page?: string) => {
      const query = page === undefined ? '' : `&page=${page}`;
      return (await t.raw({ path: `/v1/sessions?agent_id=${agentId}&limit=2${query}` })).json;
    };
    const idsIn = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
    const first = await pageOf();
    expectEqual([idsIn(first), first.prev_page], [[ids[2], ids[1]], null], 'the first page');
    const second = await pageOf(first.next_page);
    expectEqual([idsIn(second), second.next_page], [[ids[0]], null], 'the second page');
    expectThat(typeof second.prev_page === 'string', 'prev_page on the second page', second.prev_page);
    const back = await pageOf(second.prev_page);
    expectEqual([idsIn(back), back.prev_page], [[ids[2], ids[1]], null], 'the way back');
  }),

  check(79, 'E', 'A cursor used with the other order is 400', [], async (t) => {
    const { agentId } = await several(t, 2);
    const { next_page } = (await t.raw({ path: `/v1/sessions?agent_id=${agentId}&limit=1` })).json;
    const path = `/v1/sessions?agent_id=${agentId}&limit=1&order=asc&page=${next_page}`;
    expectRefused(await t.raw({ path }), 400, 'the other order', /page|order/);
    expectRefused(await t.raw({ path: '/v1/sessions?page=nonsense' }), 400, 'no cursor at all', /page/);
  }),

  check(80, 'C', 'Archiving while running is 400; when idle it ends the session', ['scripts'], async (t) => {
    const talk = await t.session({ turns: SLOW, create: initial(toMessage('go')) });
    await expectRefusal(t.client.beta.sessions.archive(talk.id), 400, 'archiving while running');
    const stream = await talk.watch();
    await talk.send({ type: 'user.interrupt' });
    await stream.until('session.status_idle');
    const archived = await t.client.beta.sessions.archive(talk.id);
    expectEqual(archived.status, 'terminated', 'status');
    expectThat(archived.archived_at !== null, 'archived_at', archived.archived_at);
    await stream.untilEnd();
    expectEqual(stream.types.at(-1), 'session.status_terminated', 'the last event');
    expectThat((await talk.list()).length > 0, 'its history to stay readable', 0);
    const listed = { agent_id: talk.created.agent.id };
    expectEqual(await idsOf(t, listed), [], 'the list');
    expectEqual(await idsOf(t, { ...listed, include_archived: true }), [talk.id], 'the list with include_archived');
  }),

  check(81, 'C', 'A send to an archived session is 409', [], async (t) => {
    const talk = await t.session();
    await t.client.beta.sessions.archive(talk.id);
    await expectRefusal(talk.say('hello'), 409, 'a send');
  }),

  check(82, 'C', 'Deleting while running is 400; when idle it is gone', ['scripts'], async (t) => {
    const talk = await t.session({ turns: SLOW, create: initial(toMessage('go')) });
    await expectRefusal(t.client.beta.sessions.delete(talk.id), 400, 'deleting while running');
    const stream = await talk.watch();
    await talk.send({ type: 'user.interrupt' });
    await stream.until('session.status_idle');
    const deleted = await t.client.beta.sessions.delete(talk.id);
    expectEqual(withoutRequestId(deleted), { id: talk.id, type: 'session_deleted' }, 'the answer');
    await expectRefusal(talk.retrieve(), 404, 'the session');
    await expectRefusal(talk.list(), 404, 'its events');
    await expectRefusal(talk.say('hello'), 404, 'a send');
  }),

  check(83, 'C', 'Deleting ends open streams after session.deleted', [], async (t) => {
    const talk = await t.session();
    const [primary] = await talk.threads();
    const streams = [await talk.watch(), await t.watchThread(talk.id, expectFound(primary, 'a thread', []).id)];
    await t.client.beta.sessions.delete(talk.id);
    for (const stream of streams) {
      await stream.untilEnd();
      expectEqual([stream.types, stream.ended], [['session.deleted'], 'closed'], 'the stream');
    }
  }),

  check(84, 'C', 'Right after session.status_idle the session is idle and can be archived', ['scripts'], async (t) => {
    for (let round = 0; round < 5; round += 1) {
      const talk = await t.session({ turns: [[{ say: 'done' }]] });
      await talk.watch();
      await talk.say('go');
      await talk.rest();
      expectEqual((await talk.retrieve()).status, 'idle', 'status');
      expectEqual((await t.client.beta.sessions.archive(talk.id)).status, 'terminated', 'status once archived');
    }
  }),
]);

const EMPTY_SESSION = {
  type: 'session',
  title: null,
  status: 'idle',
  metadata: {},
  resources: [],
  vault_ids: [],
  outcome_evaluations: [],
  budget: null,
  usage: {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    active_seconds: 0,
  },
  deployment_id: null,
  archived_at: null,
};

/** A cost of nothing may be said or left out. */
function withoutCost(session: object): object {
  const { usage, ...rest } = session as { usage: { list_cost?: { amount: string } } };
  const { list_cost: cost, ...tokens } = usage;
  return { ...rest, usage: cost === undefined || cost.amount === '0' ? tokens : usage };
}

function initial(...events: readonly object[]): { initial_events: never } {
  return { initial_events: events as never };
}

async function several(t: Context, count: number): Promise<{ agentId: string; ids: readonly string[] }> {
  const { id: agentId } = await t.agent();
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) {
    ids.push((await t.session({ agentId })).id);
    // Two of the same millisecond may stand in any order.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return { agentId, ids };
}

async function idsOf(t: Context, params: Anthropic.Beta.SessionListParams): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of t.client.beta.sessions.list(params)) ids.push(id);
  return ids;
}

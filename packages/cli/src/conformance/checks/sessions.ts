import { check, defineChecks } from '../harness/check.ts';
import { expectEqual, expectRefusal, expectRefused } from '../harness/expect.ts';
import { ofType, saidIn, toMessage } from '../harness/talk.ts';
import { withoutRequestId } from './agents.ts';
import { idsOf } from '../harness/session-ids.ts';

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
    'A session created with initial events is running, and the events are in its list',
    ['scripts'],
    async (t) => {
      const talk = await t.session({ turns: [[{ say: 'heard: {{last_user}}' }]], create: initial(toMessage('begin')) });
      expectEqual(talk.created.status, 'running', 'status');
      const events = await talk.untilIdle();
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

/** A cost of zero may be present or omitted. */
function withoutCost(session: object): object {
  const { usage, ...rest } = session as { usage: { list_cost?: { amount: string } } };
  const { list_cost: cost, ...tokens } = usage;
  return { ...rest, usage: cost === undefined || cost.amount === '0' ? tokens : usage };
}

function initial(...events: readonly object[]): { initial_events: never } {
  return { initial_events: events as never };
}

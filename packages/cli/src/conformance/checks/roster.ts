import { check, defineChecks } from '../harness/check.ts';
import type { AgentParams, Context } from '../harness/context.ts';
import { expectEqual, expectRefused, expectThat } from '../harness/expect.ts';

export const rosterChecks = defineChecks('Roster', [
  check(44, 'C', 'A member given as text is pinned to its newest version', [], async (t) => {
    const member = await t.agent({ name: 'member' });
    await t.client.beta.agents.update(member.id, { version: 1, description: 'v2' });
    const { multiagent } = await coordinator(t, [member.id]);
    expectEqual(multiagent, rosterOf([member.id, 2]), 'multiagent');
  }),

  check(45, 'C', 'A member that is updated later stays at its version', [], async (t) => {
    const member = await t.agent({ name: 'member' });
    const { id } = await coordinator(t, [member.id]);
    await t.client.beta.agents.update(member.id, { version: 1, description: 'v2' });
    expectEqual((await t.client.beta.agents.retrieve(id)).multiagent, rosterOf([member.id, 1]), 'multiagent');
  }),

  check(46, 'C', 'Saving the coordinator again with the same text pins the new version', [], async (t) => {
    const member = await t.agent({ name: 'member' });
    const { id } = await coordinator(t, [member.id]);
    await t.client.beta.agents.update(member.id, { version: 1, description: 'v2' });
    const multiagent = { type: 'coordinator', agents: [member.id] } as const;
    const saved = await t.client.beta.agents.update(id, { version: 1, multiagent: multiagent as never });
    expectEqual([saved.version, saved.multiagent], [2, rosterOf([member.id, 2])], 'version and multiagent');
  }),

  check(47, 'C', 'self is the coordinator', [], async (t) => {
    const { id, multiagent } = await coordinator(t, [{ type: 'self' }]);
    expectEqual(multiagent, rosterOf([id, 1]), 'multiagent');
  }),

  check(48, 'C', 'An unknown member is 400', [], async (t) => {
    await expectNoRoster(t, ['agent_01AAAAAAAAAAAAAAAAAAAAAA'], 'an unknown member');
  }),

  check(49, 'C', 'An archived member is 400', [], async (t) => {
    const { id } = await t.agent({ name: 'member' });
    await t.client.beta.agents.archive(id);
    await expectNoRoster(t, [id], 'an archived member');
  }),

  check(50, 'C', '21 members are 400, and none is too', [], async (t) => {
    const members = Array.from({ length: 21 }, (_, count) => t.agent({ name: `member ${count}` }));
    const ids = (await Promise.all(members)).map(({ id }) => id);
    await expectNoRoster(t, ids, '21 members');
    await expectNoRoster(t, [], 'no member');
    const { multiagent } = await coordinator(t, ids.slice(0, 20));
    expectEqual(multiagent, rosterOf(...ids.slice(0, 20).map((id) => [id, 1] as const)), '20 members');
  }),

  check(51, 'C', 'The same agent twice is 400', [], async (t) => {
    const { id } = await t.agent({ name: 'member' });
    await expectNoRoster(t, [id, { type: 'agent', id }], 'one agent as text and as reference');
    const other = await t.agent({ name: 'member' });
    await expectNoRoster(t, [id, other.id], 'two agents of the same name');
  }),

  check(52, 'C', 'self twice is 400', [], async (t) => {
    await expectNoRoster(t, [{ type: 'self' }, { type: 'self' }], 'self twice');
  }),

  check(53, 'C', 'A member with members of its own is 400', [], async (t) => {
    const member = await t.agent({ name: 'member' });
    const nested = await coordinator(t, [member.id], { name: 'nested' });
    await expectNoRoster(t, [nested.id], 'a coordinator as member');
  }),

  check(54, 'C', 'multiagent among the tools, or at the creation of a session, is 400', [], async (t) => {
    const { id } = await t.agent({ name: 'member' });
    const multiagent = { type: 'coordinator', agents: [id] };
    const tools = [multiagent];
    const body = { name: 'x', model: 'scripted/echo' };
    expectRefused(
      await t.raw({ method: 'POST', path: '/v1/agents', body: { ...body, tools } }),
      400,
      'among the tools',
    );
    const session = { agent: id, environment_id: await t.environment(), multiagent };
    expectRefused(
      await t.raw({ method: 'POST', path: '/v1/sessions', body: session }),
      400,
      'of a session',
      /multiagent/,
    );
  }),

  check(55, 'C', 'multiagent is cleared with null', [], async (t) => {
    const member = await t.agent({ name: 'member' });
    const { id } = await coordinator(t, [member.id]);
    const cleared = await t.client.beta.agents.update(id, { version: 1, multiagent: null });
    expectEqual([cleared.version, cleared.multiagent], [2, null], 'version and multiagent');
  }),

  check(56, 'E', 'multiagent_20261001 with predefined agents behaves as a roster', ['scripts'], async (t) => {
    const member = await t.agent({ name: 'helper', turns: [[{ say: 'helped' }]] });
    const multiagent = {
      type: 'multiagent_20261001',
      subagents: { type: 'enabled', predefined_agents: [member.id], inline_agents: { type: 'disabled' } },
      workflows: { type: 'disabled' },
    };
    const talk = await t.session({
      turns: [
        [{ call: 'send_to_agent', input: { agent: 'helper', message: 'help' } }],
        [{ say: 'waiting' }],
        [{ say: 'it said {{last_user}}' }],
      ],
      multiagent: multiagent as never,
    });
    const events = await talk.turn('go');
    const created = events.find(({ type }) => type === 'session.thread_created');
    expectThat(
      created !== undefined && created.type === 'session.thread_created' && created.agent_name === 'helper',
      'a thread of helper',
      events,
    );
  }),

  check(57, 'E', 'Workflows that are switched on are refused by name, or on', [], async (t) => {
    const { id } = await t.agent({ name: 'helper' });
    const subagents = { type: 'enabled', predefined_agents: [id] };
    const multiagent = { type: 'multiagent_20261001', subagents, workflows: { type: 'enabled' } };
    const body = { name: 'coordinator', model: 'scripted/echo', multiagent };
    const answer = await t.raw({ method: 'POST', path: '/v1/agents', body });
    if (answer.status !== 200) return expectRefused(answer, 400, 'workflows', /workflows/);
    t.agentIds.push(answer.json.id);
    expectEqual(answer.json.multiagent.workflows.type, 'enabled', 'workflows of what was accepted');
  }),
]);

type Entry = string | { readonly type: 'self' } | { readonly type: 'agent'; readonly id: string };

function coordinator(t: Context, agents: readonly Entry[], params: AgentParams = {}) {
  // Older versions of the SDK support fewer forms.
  return t.agent({ name: 'coordinator', ...params, multiagent: { type: 'coordinator', agents } as never });
}

async function expectNoRoster(t: Context, agents: readonly Entry[], what: string): Promise<void> {
  const body = { name: 'coordinator', model: 'scripted/echo', multiagent: { type: 'coordinator', agents } };
  expectRefused(await t.raw({ method: 'POST', path: '/v1/agents', body }), 400, what);
}

function rosterOf(...members: readonly (readonly [id: string, version: number])[]) {
  return { type: 'coordinator', agents: members.map(([id, version]) => ({ type: 'agent', id, version })) };
}

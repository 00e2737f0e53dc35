import { check, defineChecks } from '../harness/check.ts';
import { expectEqual, expectRefusal, expectRefused, expectThat } from '../harness/expect.ts';
import { toCases, sleeps } from '../harness/script.ts';
import { ofType, saidIn } from '../harness/talk.ts';

export const sessionUpdateChecks = defineChecks('Sessions', [
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
    'An update of tools is rejected while the session runs; when idle, it applies from the next turn',
    ['scripts'],
    async (t) => {
      const talk = await t.session({
        system: toCases([{ match: 'again', turn: [{ expect: { tools: ['write'] } }, { say: 'has tools' }] }], [sleeps]),
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
]);

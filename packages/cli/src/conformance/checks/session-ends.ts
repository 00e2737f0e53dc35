import { check, defineChecks } from '../harness/check.ts';
import { expectEqual, expectFound, expectRefusal, expectThat } from '../harness/expect.ts';
import { sleeps } from '../harness/script.ts';
import { toMessage } from '../harness/talk.ts';
import { withoutRequestId } from './agents.ts';
import { idsOf } from '../harness/session-ids.ts';

const SLOW = [[sleeps]] as const;

/** Archiving and deleting sessions. */
export const sessionEndChecks = defineChecks('Sessions', [
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

function initial(...events: readonly object[]): { initial_events: never } {
  return { initial_events: events as never };
}

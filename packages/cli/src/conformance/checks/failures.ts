import { check, defineChecks } from '../harness/check.ts';
import type { Context } from '../harness/context.ts';
import { expectEqual, expectThat, Mismatch } from '../harness/expect.ts';
import { toCases } from '../harness/script.ts';
import { ofType, saidIn, type Talk } from '../harness/talk.ts';
import type { Watcher } from '../harness/watcher.ts';

const forever = { status: 529, times: 50, retry_after_s: 0.02 };

/** Failed model requests, and sessions after a crash of the server. */
export const failureChecks = defineChecks('Errors in a session', [
  check(155, 'E', 'A transient failure: session.error retrying, rescheduled, then success', ['scripts'], async (t) => {
    const talk = await t.session({
      turns: [[{ fail: { status: 529, times: 1, retry_after_s: 0.05 } }, { say: 'worked' }]],
    });
    const events = await talk.turn('go');
    const [error] = ofType(events, 'session.error');
    expectEqual(
      [error?.error.type, error?.error.retry_status],
      ['model_overloaded_error', { type: 'retrying' }],
      'the error',
    );
    const types = events.map(({ type }) => type);
    expectThat(types.includes('session.thread_status_rescheduled'), 'session.thread_status_rescheduled', types);
    expectThat(types.includes('session.status_rescheduled'), 'session.status_rescheduled', types);
    expectEqual([saidIn(events), types.at(-1)], ['worked', 'session.status_idle'], 'the end');
    expectEqual(
      ofType(events, 'span.model_request_end').map(({ is_error }) => is_error),
      [true, false],
      'is_error of the requests',
    );
  }),

  check(
    156,
    'C',
    'Retries used up: exhausted, idle retries_exhausted, and the next message works',
    ['scripts'],
    async (t) => {
      const talk = await t.session({
        system: toCases([{ match: '^fail$', turn: [{ fail: forever }] }], [{ say: 'works again' }]),
      });
      const events = await talk.turn('fail');
      expectEqual(ofType(events, 'session.error').at(-1)?.error.retry_status, { type: 'exhausted' }, 'the last error');
      expectEqual(
        ofType(events, 'session.status_idle').at(-1)?.stop_reason,
        { type: 'retries_exhausted' },
        'why it stopped',
      );
      expectEqual((await talk.retrieve()).status, 'idle', 'status');
      expectEqual(saidIn(await talk.turn('and now')), 'works again', 'the next answer');
    },
  ),

  check(157, 'E', 'What waits is dropped when a turn fails for good', ['scripts'], async (t) => {
    const { talk, stream } = await sendWhileFailing(t);
    await stream.until('session.status_idle');
    const events = await talk.list();
    expectEqual(
      ofType(events, 'session.status_idle').at(-1)?.stop_reason,
      { type: 'retries_exhausted' },
      'why it stopped',
    );
    expectEqual(events.at(-1)?.type, 'session.status_idle', 'the last event');
    const said = saidIn(await talk.turn('next'));
    expectThat(said.endsWith('next') && !said.includes('lost'), 'an answer to the next message alone', said);
  }),

  check(
    158,
    'C',
    'When the server is killed during a turn, the session resumes or becomes idle',
    ['scripts', 'restart'],
    async (t) => {
      const talk = await t.session({ turns: [[{ sleep_ms: 1_000 }, { say: 'after all' }]] });
      const before = await talk.watch();
      await talk.say('go');
      await before.until('span.model_request_start');
      await t.target.restart!();
      for (let attempt = 0; attempt < 200; attempt += 1) {
        if ((await talk.retrieve()).status === 'idle') break;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const events = await talk.list();
      expectEqual(events.at(-1)?.type, 'session.status_idle', 'the last event');
      const isReported = saidIn(events) === 'after all' || ofType(events, 'session.error').length > 0;
      expectThat(
        isReported,
        'an answer, or an error',
        events.map(({ type }) => type),
      );
      const ids = events.map(({ id }) => id);
      expectEqual(new Set(ids).size, ids.length, 'each event once');
    },
  ),
]);

/** Runs a turn that fails terminally, with a message sent before its end; repeats it with longer retries if the message was late. */
async function sendWhileFailing(t: Context): Promise<{ talk: Talk; stream: Watcher }> {
  for (const retry_after_s of [0.3, 1.5, 5]) {
    const talk = await t.session({
      system: toCases(
        [{ match: '^fail$', turn: [{ fail: { ...forever, retry_after_s } }] }],
        [{ say: 'heard {{last_user}}' }],
      ),
    });
    const stream = await talk.watch();
    await talk.say('fail');
    await stream.until('session.error');
    await talk.say('lost');
    const isInTime = !(await talk.list()).some(({ type }) => type === 'session.status_idle');
    if (isInTime) return { talk, stream };
  }
  throw new Mismatch('a turn that fails slowly enough for another message', 'its end came first each time');
}

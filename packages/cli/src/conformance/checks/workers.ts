import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check, defineChecks } from '../harness/check.ts';
import type { Context } from '../harness/context.ts';
import type { EventOf } from '../forms/event-of.ts';
import { expectEqual, expectFound, expectRefusal, expectThat, Mismatch } from '../harness/expect.ts';
import { saidIn } from '../harness/talk.ts';
import { selfHosted, selfHostedEnvironment } from '../harness/self-hosted.ts';

/** The queue of self-hosted environments, driven by the worker of the official SDK. */
export const workerChecks = defineChecks('Workers, files, helpers of the SDK', [
  check(
    159,
    'E',
    'The EnvironmentWorker of the SDK runs a call to the end and stops the item',
    ['scripts'],
    async (t) => {
      const { environmentId, talk } = await selfHosted(t, [
        [{ call: 'bash', input: { command: 'echo from the worker' } }],
        [{ say: 'it said {{last_result}}' }],
      ]);
      const stream = await talk.watch();
      await talk.say('go');
      const workdir = await mkdtemp(join(tmpdir(), 'conformance-'));
      const done = new AbortController();
      const { work } = t.client.beta.environments;
      const signal = AbortSignal.any([done.signal, t.signal]);
      const worker = work.worker({ environmentId, environmentKey: t.target.key, workdir, maxIdleMs: 200, signal });
      const run = worker.run();
      try {
        const isOver = ({ stop_reason }: EventOf<'session.status_idle'>) => stop_reason.type === 'end_turn';
        await Promise.race([stream.until('session.status_idle', { where: isOver }), run]);
        expectThat(
          saidIn(await talk.list()).includes('from the worker'),
          'the output of the worker',
          saidIn(await talk.list()),
        );
        await untilStopped(t, environmentId);
      } finally {
        done.abort();
        await run.catch(() => {});
        await rm(workdir, { recursive: true, force: true });
      }
    },
  ),

  check(160, 'E', 'A poll of an empty queue gives null', [], async (t) => {
    const environmentId = await selfHostedEnvironment(t);
    expectEqual(await t.client.beta.environments.work.poll(environmentId, {}), null, 'the work');
  }),

  check(161, 'E', 'A heartbeat that does not know the last one is 412 and says how it is', ['scripts'], async (t) => {
    const { environmentId } = await selfHosted(t, [[{ say: 'ok' }]]);
    const { work } = t.client.beta.environments;
    const item = expectFound((await work.poll(environmentId, {})) ?? undefined, 'work', null);
    await work.ack(item.id, { environment_id: environmentId });
    const beat = (expected_last_heartbeat: string) =>
      work.heartbeat(item.id, { environment_id: environmentId, expected_last_heartbeat });
    await beat('NO_HEARTBEAT');
    await expectRefusal(beat('NO_HEARTBEAT'), 412, 'a stale heartbeat');
  }),

  check(162, 'E', 'An item without an acknowledgement comes back', ['scripts'], async (t) => {
    const { environmentId } = await selfHosted(t, [[{ say: 'ok' }]]);
    const { work } = t.client.beta.environments;
    const first = expectFound((await work.poll(environmentId, {})) ?? undefined, 'work', null);
    const patient = { reclaim_older_than_ms: 600_000 };
    expectEqual(await work.poll(environmentId, patient), null, 'the queue');
    await new Promise((resolve) => setTimeout(resolve, 50));
    const again = await work.poll(environmentId, { reclaim_older_than_ms: 10 });
    expectEqual(again?.id, first.id, 'the item');
  }),
]);

async function untilStopped(t: Context, environmentId: string): Promise<void> {
  for (;;) {
    const states: string[] = [];
    for await (const { state } of t.client.beta.environments.work.list(environmentId)) states.push(state);
    if (states.every((state) => state === 'stopped')) return;
    if (t.signal.aborted) throw new Mismatch('the item to be stopped', states);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

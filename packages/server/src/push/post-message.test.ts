import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import { openConnections } from '../base/outgoing-http.ts';
import { pushLimits } from './limits.ts';
import { type PostMessage, postMessage, type PushPosted } from './post-message.ts';
import { type PushService, startPushService } from './push-service.suite.ts';

it('[W118, W123, W128] a message reaches only addresses that were checked, and the response of the push service decides what follows', async () => {
  const service = await startPushService();
  const post = usePost(service);
  const port = service.host.split(':')[1];
  const answers: [number, Record<string, string>, PushPosted][] = [
    [201, {}, { type: 'accepted' }],
    [404, {}, { type: 'gone' }],
    [410, {}, { type: 'gone' }],
    [403, {}, { type: 'rejected', reason: 'the push service answered 403' }],
    [413, {}, { type: 'rejected', reason: 'the push service answered 413' }],
    [302, { location: '/elsewhere' }, { type: 'rejected', reason: 'the push service answered 302' }],
    [503, {}, { type: 'failed', reason: 'the push service answered 503', retryAfterMs: 0 }],
    [429, { 'retry-after': '90' }, { type: 'failed', reason: 'the push service answered 429', retryAfterMs: 90_000 }],
    // A push service cannot stop messages for days.
    [
      429,
      { 'retry-after': '999999' },
      { type: 'failed', reason: 'the push service answered 429', retryAfterMs: 600_000 },
    ],
  ];
  for (const [status, headers, posted] of answers) {
    service.answer = () => ({ status, headers });
    expect([status, await post({})]).toEqual([status, posted]);
  }
  expect(service.received.map(({ path }) => path)).toEqual(answers.map(() => '/push/secret-path'));

  // The name is resolved by our rules and not by the system.
  service.answer = () => ({ status: 201 });
  const name = `push.example:${port}`;
  const named = (addresses: readonly string[], allowed: readonly string[]) =>
    post({
      endpoint: `https://${name}/secret`,
      rules: { resolveHost: async () => addresses, allowedPrivateHosts: allowed },
    });
  expect(await named(['127.0.0.1'], [name])).toEqual({ type: 'accepted' });
  expect(await named(['127.0.0.1', '10.0.0.1'], [])).toEqual({
    type: 'rejected',
    reason: `${name} is not a public address`,
  });
  expect(await named([], [])).toMatchObject({ type: 'failed', reason: 'push.example has no address' });
  expect(service.received).toHaveLength(answers.length + 1);
});

it('[W123] a push service that does not respond within 10 s is a failed delivery, and a stop does not wait for it', async () => {
  const service = await startPushService();
  const arrived = new Promise<void>((resolve) => {
    service.answer = () => {
      resolve();
      return undefined;
    };
  });
  const clock = createManualClock();
  const { schedule, advance } = createManualSchedule(clock);
  const stopping = new AbortController();
  const post = usePost(service);
  const waiting = [post({ schedule }), post({ signal: stopping.signal })];
  await arrived;
  advance(pushLimits.pushAnswerMs);
  stopping.abort();
  for (const posted of await Promise.all(waiting)) expect(posted).toMatchObject({ type: 'failed', retryAfterMs: 0 });
});

function usePost(service: PushService): (change: Partial<PostMessage>) => Promise<PushPosted> {
  const connections = openConnections();
  onTestFinished(() => connections.close());
  return (change) =>
    postMessage({
      endpoint: service.subscribe().endpoint,
      authorization: 'vapid t=token, k=key',
      body: Buffer.from('encrypted'),
      urgency: 'high',
      topic: 'fleetloom',
      rules: { resolveHost: async () => [], allowedPrivateHosts: [service.host] },
      connections,
      schedule: () => () => {},
      signal: new AbortController().signal,
      ...change,
    });
}

import { expect, it } from 'vitest';
import { systemSchedule } from '../../../base/schedule.ts';
import { readStream } from './read-stream.ts';

it('[N31] a consumer that leaves early cancels the rest of the response', async () => {
  let isGivenUp = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode('data: {"type":"ping"}\n\n')),
    cancel: () => {
      isGivenUp = true;
    },
  });
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
  for await (const event of readStream(response, { silenceMs: 1_000, schedule: systemSchedule })) {
    expect(event).toEqual({ type: 'ping' });
    break;
  }
  expect(isGivenUp).toBe(true);
});

it('[N28] an answer without a body has no events', async () => {
  const response = new Response(null, { headers: { 'content-type': 'text/event-stream' } });
  const events = readStream(response, { silenceMs: 1_000, schedule: systemSchedule });
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

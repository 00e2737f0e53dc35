import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type FleetServer, openFleetServer, parallel } from './fleet.suite.ts';

let fleet: FleetServer;
beforeAll(async () => {
  fleet = await openFleetServer();
});
afterAll(() => fleet.close());

interface Listed {
  readonly data: readonly { readonly id: string; readonly type: string; readonly processed_at: string | null }[];
}

it('[Z46] POST …/threads/{id}/messages sends a message to that thread alone, once per key, and refuses invalid ones', async () => {
  await fleet.agent('hand', { turns: [[{ say: 'word '.repeat(60), chunks: 60, every_ms: 20 }], [{ say: 'Turned.' }]] });
  await fleet.agent('index', { turns: [[{ say: parallel(['hand', 'Go on']) }], [{ say: 'All: {{last_user}}' }]] });
  const run = await fleet.orchestrate({ message: 'Begin', agent: 'index' });
  const started = await run.until((event) => event.type === 'text' && event.depth === 1);
  const { session_id: sessionId, thread_id: threadId } = started as unknown as Record<string, string>;
  const path = `/v1/sessions/${sessionId}/threads/${threadId}`;
  const content = [{ type: 'text', text: 'Turn left.' }];
  const headers = { 'idempotency-key': 'one' };
  const [first, again] = [
    await fleet.call('POST', `${path}/messages`, { content }, headers),
    await fleet.call('POST', `${path}/messages`, { content }, headers),
  ];
  expect(first).toMatchObject({ status: 200, json: { type: 'user.message', processed_at: null, content } });
  expect(again).toEqual(first);
  const events = await run.all();
  expect(events.at(-1)).toMatchObject({ type: 'done', ok: true, content: expect.stringContaining('Turned.') });

  const own = (await fleet.call('GET', `${path}/events`)).json as Listed;
  expect(own.data.filter(({ type }) => type === 'user.message')).toMatchObject([
    { id: first.json.id, content, processed_at: expect.any(String) },
  ]);
  // The coordinator did not receive it.
  const others = (await fleet.call('GET', `/v1/sessions/${sessionId}/events?types[]=user.message`)).json as Listed;
  expect(others.data).toHaveLength(1);
  expect(others.data[0]!.id).not.toBe(first.json.id);

  const unknown = await fleet.call('POST', `/v1/sessions/${sessionId}/threads/sthr_x/messages`, { content });
  expect([unknown.status, unknown.json.error.type]).toEqual([404, 'not_found_error']);
  expect((await fleet.call('POST', `${path}/messages`, { content: [] })).status).toBe(400);
  // An archived thread refuses messages.
  await vi.waitFor(async () => expect((await fleet.call('POST', `${path}/archive`)).status).toBe(200), 20_000);
  const ended = await fleet.call('POST', `${path}/messages`, { content });
  expect([ended.status, ended.json.error.details.error_code]).toEqual([409, 'thread_ended']);
  expect(fleet.problems).toEqual([]);
});

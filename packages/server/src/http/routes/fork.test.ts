import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FleetServer, openFleetServer } from './fleet.suite.ts';

let fleet: FleetServer;
beforeAll(async () => {
  fleet = await openFleetServer();
});
afterAll(() => fleet.close());

it('[H75] POST …/fork creates a session with the history of another up to a cursor, once per key, and its fleet stream has all of it', async () => {
  await fleet.agent('speaker', { turns: [[{ say: 'One.' }], [{ say: 'You said {{last_user}}' }]] });
  await fleet.agent('other', { turns: [[{ say: 'Nothing.' }], [{ say: 'As another: {{last_user}}' }]] });
  const run = await fleet.orchestrate({ message: 'Begin', agent: 'speaker' });
  const events = await run.all();
  const { session_id: id } = events[0] as unknown as { session_id: string };
  const done = events.find(({ type }) => type === 'done')!;

  const headers = { 'idempotency-key': 'fork' };
  const body = { at: done.cursor, title: 'Another way' };
  const first = await fleet.call('POST', `/v1/sessions/${id}/fork`, body, headers);
  expect(first).toMatchObject({ status: 200, json: { type: 'session', status: 'idle', title: 'Another way' } });
  expect(await fleet.call('POST', `/v1/sessions/${id}/fork`, body, headers)).toEqual(first);
  const fork = first.json.id as string;
  expect(fork).not.toBe(id);
  const replay = await fleet.watch(`/v1/sessions/${fork}/fleet`, { query: { follow: 'false' } });
  const again = (await replay.all()).filter(({ type }) => type === 'text');
  expect(again.map((event) => ('delta' in event ? event.delta : ''))).toEqual(['One.']);

  const send = (session: string) =>
    fleet.call('POST', `/v1/sessions/${session}/events`, {
      events: [{ type: 'user.message', content: [{ type: 'text', text: 'two' }] }],
    });
  expect((await send(fork)).status).toBe(200);
  const live = await fleet.watch(`/v1/sessions/${fork}/fleet`);
  await live.until((event) => event.type === 'text' && event.delta.includes('You said two'));
  live.kill();

  const asOther = await fleet.call('POST', `/v1/sessions/${id}/fork`, { agent: await idOf('other') });
  expect(asOther.json).toMatchObject({ agent: { name: 'other' } });
  expect((await send(asOther.json.id)).status).toBe(200);
  const other = await fleet.watch(`/v1/sessions/${asOther.json.id}/fleet`);
  await other.until((event) => event.type === 'text' && event.delta.includes('As another: two'));
  other.kill();
  expect(fleet.problems).toEqual([]);
});

it('[H75] a session that cannot be forked is refused with what to do', async () => {
  const run = await fleet.orchestrate({ message: 'Hi', agent: 'speaker' });
  const { session_id: id } = (await run.all())[0] as unknown as { session_id: string };
  const refused = async (path: string, body: object) => {
    const { status, json } = await fleet.call('POST', path, body);
    return [status, json.error.details?.error_code ?? json.error.type];
  };
  expect(await refused('/v1/sessions/sesn_none/fork', {})).toMatchObject([404, expect.anything()]);
  expect(await refused(`/v1/sessions/${id}/fork`, { at: 'here' })).toMatchObject([400, expect.anything()]);
  expect(await refused(`/v1/sessions/${id}/fork`, { at: '0' })).toEqual([409, 'not_forkable']);
  await fleet.call('POST', `/v1/sessions/${id}/archive`);
  expect(await refused(`/v1/sessions/${id}/fork`, {})).toEqual([409, 'not_forkable']);
});

it('[H127] a fork at a cursor after the end of the log is refused with the last cursor', async () => {
  const run = await fleet.orchestrate({ message: 'Hi', agent: 'speaker' });
  const events = await run.all();
  const { session_id: id } = events[0] as unknown as { session_id: string };
  const fork = (at: string) => fleet.call('POST', `/v1/sessions/${id}/fork`, { at });
  const { status, json } = await fork('99999999');
  const [, last] = /whose last cursor is (\d+)/.exec(json.error.message)!;
  expect([status, json.error.type]).toEqual([400, 'invalid_request_error']);
  expect(Number(last)).toBeGreaterThanOrEqual(Number.parseInt(events.at(-1)!.cursor, 10));
  expect((await fork(String(Number(last) + 1))).status).toBe(400);
  expect((await fork(last!)).status).toBe(200);
});

async function idOf(name: string): Promise<string> {
  const { json } = await fleet.call('GET', '/v1/agents');
  return (json.data as { id: string; name: string }[]).find((agent) => agent.name === name)!.id;
}

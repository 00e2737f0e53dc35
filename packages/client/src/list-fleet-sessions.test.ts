import { expect, it } from 'vitest';
import { listFleetSessions } from './list-fleet-sessions.ts';
import { ResponseError } from './response-error.ts';

it('[V192] the query is sent as the server reads it, and the response is returned', async () => {
  const seen: unknown[] = [];
  const page = { type: 'fleet_sessions', data: [] };
  const fetch = async (url: unknown, init: unknown) => {
    seen.push(url, init);
    return Response.json(page);
  };
  const options = { fetch: fetch as typeof globalThis.fetch, headers: { 'x-api-key': 'k' } };
  const query = { status: ['failed', 'stalled'], q: 'a b', min_cost: 0, archived: true, cursor: undefined } as const;
  expect(await listFleetSessions('http://127.0.0.1:1/', query, options)).toEqual(page);
  expect(seen).toEqual([
    'http://127.0.0.1:1/v1/fleet/sessions?status=failed&status=stalled&q=a+b&min_cost=0&archived=true',
    { headers: { accept: 'application/json', 'x-api-key': 'k' } },
  ]);
  await listFleetSessions('', {}, options);
  expect(seen[2]).toBe('/v1/fleet/sessions');
});

it('[V192] a rejected request throws the status and the beginning of the body', async () => {
  const fetch = async () => new Response('{"error":"limit"}', { status: 400, statusText: 'Bad Request' });
  const listing = listFleetSessions('', { limit: 0 }, { fetch });
  await expect(listing).rejects.toThrow(
    new ResponseError('the server answered 400 Bad Request: {"error":"limit"}', 400),
  );
  await expect(listing).rejects.toMatchObject({ status: 400 });
});

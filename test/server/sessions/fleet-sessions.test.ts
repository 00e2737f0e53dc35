import {
  type FleetSessionList,
  type FleetSessionQuery,
  parseFleetEvent,
  type SessionsChanged,
} from '@fleetloom/protocol/fleet';
import { decodeSse } from '@fleetloom/protocol/sse';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { httpLimits } from '../../../packages/server/src/http/limits.ts';
import { type TestServer, toScript, withServer } from '../server.suite.ts';
import { Database } from '../../../packages/server/src/store/sqlite/database.ts';
import { viewLimits } from '../../../packages/server/src/views/limits.ts';

const say = (text: string) => [{ type: 'user.message', content: [{ type: 'text', text }] }] as never;

async function list({ url, key }: Pick<TestServer, 'url' | 'key'>, query: FleetSessionQuery = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) search.append(name, String(each));
  }
  const response = await fetch(`${url}/v1/fleet/sessions?${search}`, { headers: { 'x-api-key': key } });
  expect(response.status).toBe(200);
  return (await response.json()) as FleetSessionList;
}

async function prepare({ client }: TestServer) {
  const make = async (name: string, turns: readonly (readonly object[])[]) =>
    (await client.beta.agents.create({ name, model: 'scripted/echo', system: toScript(turns) })).id;
  const { id: environment_id } = await client.beta.environments.create({ name: 'here' });
  const good = await make('good', [[{ say: 'done' }]]);
  const bad = await make('bad', [[{ fail: { status: 400, message: 'no credit' } }]]);
  const start = async (agent: string, text: string | null, title: string | null = null) =>
    (
      await client.beta.sessions.create({
        agent,
        environment_id,
        ...(title === null ? {} : { title }),
        ...(text === null ? {} : { initial_events: say(text) }),
      })
    ).id;
  return { good, bad, start };
}

/** Waits until no session is running. */
async function settled(test: Pick<TestServer, 'url' | 'key'>): Promise<FleetSessionList> {
  await expect.poll(async () => (await list(test)).facets.states.running, { timeout: 20_000 }).toBe(0);
  return await list(test, { archived: true, sort: 'created', order: 'asc' });
}

it('[V184] all sessions of the workspace are listed and counted, the same after a restart', async () => {
  await withServer(async (test) => {
    const { good, bad, start } = await prepare(test);
    const first = await start(good, 'Fix the flaky queue test');
    const second = await start(bad, 'Write the changelog', 'Changelog');
    const third = await start(good, null);
    const fourth = await start(good, 'Old work');
    await settled(test);
    await test.client.beta.sessions.archive(fourth);
    const found = await settled(test);
    expect(found.data.map(({ id, name, state }) => [id, name, state])).toEqual([
      [first, 'Fix the flaky queue test', 'done'],
      [second, 'Changelog', 'failed'],
      [third, 'New session', 'idle'],
      [fourth, 'Old work', 'archived'],
    ]);
    expect(found.data[1]).toMatchObject({
      short_id: second.slice('sesn_01'.length, 'sesn_01'.length + 12),
      title: 'Changelog',
      agent: { id: bad, name: 'bad' },
      model: 'scripted/echo',
      created_by: 'first key',
      failed_threads_count: 1,
      needs_you_count: 0,
      threads_count: 1,
      changes: null,
      repository: null,
      stalls_at: null,
    });
    expect(found.data[1]!.reason).toContain('no credit');
    const open = await list(test);
    expect(open).toMatchObject({ total: 3, unlisted_count: 0, next_cursor: null });
    expect(open.facets).toEqual({
      states: { needs_you: 0, stalled: 0, failed: 1, running: 0, done: 1, idle: 1, archived: 1 },
      agents: [
        { value: 'good', count: 2 },
        { value: 'bad', count: 1 },
      ],
      models: [{ value: 'scripted/echo', count: 3 }],
    });
    // A facet ignores its own filter, and the others apply.
    const failed = await list(test, { status: ['failed'] });
    expect(failed).toMatchObject({
      total: 1,
      facets: { states: open.facets.states, agents: [{ value: 'bad', count: 1 }] },
    });
    const again = await test.restart();
    expect(await list(again, { archived: true, sort: 'created', order: 'asc' })).toEqual(found);
  });
}, 120_000);

it('[V186] sessions are found by words, agent, model, id, time and cost, and a query outside of its limits is rejected', async () => {
  await withServer(async (test) => {
    const { good, bad, start } = await prepare(test);
    const first = await start(good, 'Fix the flaky QUEUE test');
    const second = await start(bad, 'Write the changelog', 'Release notes');
    const { data } = await settled(test);
    const find = async (query: FleetSessionQuery) =>
      (await list(test, { sort: 'created', order: 'asc', ...query })).data.map(({ id }) => (id === first ? 1 : 2));
    expect(await find({ q: 'queue flaky' })).toEqual([1]);
    expect(await find({ q: 'changelog' })).toEqual([2]);
    expect(await find({ q: 'release' })).toEqual([2]);
    expect(await find({ q: ' Good ' })).toEqual([1]);
    expect(await find({ q: data[1]!.short_id })).toEqual([2]);
    expect(await find({ id: second })).toEqual([2]);
    expect(await find({ id: 'sesn_' })).toEqual([]);
    expect(await find({ id: 'x y' })).toEqual([]);
    expect(await find({ agent: ['good', 'bad'] })).toEqual([1, 2]);
    expect(await find({ model: ['other'] })).toEqual([]);
    expect(await find({ from: data[1]!.last_activity_at })).toEqual([2]);
    expect(await find({ to: data[0]!.created_at })).toEqual([1]);
    expect(await find({ min_cost: 0 })).toEqual([1, 2]);
    expect(await find({ min_cost: 1 })).toEqual([]);
    expect(await find({ status: ['done', 'failed'] })).toEqual([1, 2]);
    const { fleetSessionsTextCharsMax: charsMax, fleetSessionsPageMax: pageMax, minCostUsdMax } = httpLimits;
    const status = async (search: string) =>
      (await fetch(`${test.url}/v1/fleet/sessions?${search}`, { headers: { 'x-api-key': test.key } })).status;
    expect(await status(`q=${'x'.repeat(httpLimits.fleetSessionsTextCharsMax)}`)).toBe(200);
    expect(await status(`q=${'x'.repeat(charsMax + 1)}`)).toBe(400);
    expect(await status(`limit=${httpLimits.fleetSessionsPageMax}`)).toBe(200);
    expect(await status(`limit=${pageMax + 1}`)).toBe(400);
    expect(await status(`min_cost=${httpLimits.minCostUsdMax}`)).toBe(200);
    expect(await status(`min_cost=${minCostUsdMax + 1}`)).toBe(400);
    expect(await status('status=waiting')).toBe(400);
    expect(await status('cursor=x')).toBe(400);
    expect(await status('from=yesterday')).toBe(400);
    // Further words are ignored.
    const words = Array.from({ length: viewLimits.fleetSessionsWordsMax }, () => 'flaky');
    expect(await find({ q: [...words, 'missing'].join(' ') })).toEqual([1]);
    expect(await find({ q: [...words.slice(1), 'missing'].join(' ') })).toEqual([]);
  });
}, 120_000);

it('[V187] pages list each session once, newest activity first unless another order is asked for', async () => {
  await withServer(async (test) => {
    const { good, start } = await prepare(test);
    const ids: string[] = [];
    for (let count = 0; count < viewLimits.fleetSessionsPage + 2; count++)
      ids.push(await start(good, null, `Task ${count}`));
    const first = await list(test);
    expect(first.data).toHaveLength(viewLimits.fleetSessionsPage);
    expect(first.total).toBe(ids.length);
    const rest = await list(test, { cursor: first.next_cursor! });
    expect(rest.next_cursor).toBeNull();
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(ids.toReversed());
    const byName = await list(test, { sort: 'name', limit: 3 });
    expect(byName.data.map(({ name }) => name)).toEqual(['Task 0', 'Task 1', 'Task 10']);
  });
}, 120_000);

it('[V189] sessions of an older version are added in the background, and counted as unlisted until then', async () => {
  await withServer(async (test) => {
    const { good, bad, start } = await prepare(test);
    await start(good, 'One');
    await start(bad, 'Two');
    await start(good, null, 'Three');
    const before = await settled(test);
    await test.server.close();
    const database = await Database.open(join(test.directory, 'fleetloom.db'));
    database.exec('DROP TABLE summaries; DROP TABLE audit_entries; DROP TABLE audit_chains');
    database.exec('DELETE FROM migrations WHERE version >= 7');
    database.close();
    const again = await test.restart();
    const early = await list(again);
    expect(early.total + early.unlisted_count).toBe(3);
    await expect.poll(async () => (await list(again)).unlisted_count).toBe(0);
    expect(await list(again, { archived: true, sort: 'created', order: 'asc' })).toEqual(before);
  });
}, 120_000);

it('[V190] readers of all sessions receive the rows that change and the counts, without requesting them', async () => {
  await withServer(async (test) => {
    const { good, bad, start } = await prepare(test);
    const closing = new AbortController();
    const seen: SessionsChanged[] = [];
    const headers = { 'x-api-key': test.key };
    const reading = (async () => {
      const url = `${test.url}/v1/fleet?include=sessions&from=live`;
      const { body } = await fetch(url, { headers, signal: closing.signal });
      for await (const item of decodeSse(body!)) {
        const event = item.type === 'event' ? parseFleetEvent(item) : undefined;
        if (event?.type === 'sessions_changed') seen.push(event);
      }
    })().catch(() => undefined);
    const last = () => ({ rows: seen.flatMap(({ sessions }) => sessions), counts: seen.at(-1)?.counts });
    // The stream is open once its first event arrives.
    const id = await start(good, null, 'First');
    await expect.poll(() => last().counts?.idle, { timeout: 10_000 }).toBe(1);
    expect(last().rows).toMatchObject([{ id, name: 'First', state: 'idle' }]);
    await start(bad, 'Break it');
    await expect.poll(() => last().counts?.failed, { timeout: 10_000 }).toBe(1);
    expect(last().rows.at(-1)).toMatchObject({ name: 'Break it', state: 'failed' });
    await test.client.beta.sessions.update(id, { title: 'Renamed' });
    await expect.poll(() => last().rows.at(-1)?.name, { timeout: 10_000 }).toBe('Renamed');
    await test.client.beta.sessions.archive(id);
    await expect.poll(() => last().counts, { timeout: 10_000 }).toMatchObject({ idle: 0, archived: 1 });
    await test.client.beta.sessions.delete(id);
    await expect.poll(() => last().counts, { timeout: 10_000 }).toMatchObject({ failed: 1, archived: 0 });
    closing.abort();
    await reading;
  });
}, 120_000);

it('[V194] a login link signs one browser in, once, with the rights of the key', async () => {
  await withServer(async ({ url, key }) => {
    const create = async (headers: Record<string, string>) =>
      await fetch(`${url}/v1/login_links`, { method: 'POST', headers, body: '{}' });
    expect((await create({})).status).toBe(401);
    const { type, path } = (await (await create({ 'x-api-key': key })).json()) as { type: string; path: string };
    expect([type, path]).toEqual(['login_link', expect.stringMatching(/^\/login\?code=[\w-]+$/)]);
    const first = await fetch(`${url}${path}`, { redirect: 'manual' });
    const cookie = first.headers.get('set-cookie')!.split(';')[0]!;
    const listed = await fetch(`${url}/v1/fleet/sessions`, { headers: { cookie } });
    expect(listed.status).toBe(200);
    expect((await fetch(`${url}${path}`, { redirect: 'manual' })).headers.get('set-cookie')).toBeNull();
  });
});

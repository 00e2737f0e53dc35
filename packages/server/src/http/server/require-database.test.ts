import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineRoute } from '../routing/route.ts';
import { withHttpServer } from './http-server.suite.ts';

it('[P91] while the database is unreachable every request that needs it is a 503 with retry-after, and nothing is run', async () => {
  const { database, lose, find } = createWatch();
  let runs = 0;
  const count = async () => ({ runs: (runs += 1) });
  const routes = [toRoute('get', count), toRoute('post', count)];
  await withHttpServer({ routes, database }, async ({ send, errors }) => {
    expect((await send({ path: '/v1/thing' })).json).toEqual({ runs: 1 });
    lose();
    for (const method of ['GET', 'POST']) {
      const { status, headers, json } = await send({ method, path: '/v1/thing' });
      expect([status, headers['retry-after'], json.error.details]).toEqual([503, '1', UNAVAILABLE]);
      expect(json.error.message).toBe('this server cannot reach its database: repeat the request in a moment');
    }
    expect((await send({ path: '/healthz' })).status).toBe(200);
    const ready = await send({ path: '/readyz' });
    expect([ready.status, ready.json]).toEqual([503, { status: 'not_ready', reason: 'database' }]);
    expect([runs, errors]).toEqual([1, []]);
    find();
    expect((await send({ path: '/readyz' })).status).toBe(200);
    expect((await send({ method: 'POST', path: '/v1/thing' })).json).toEqual({ runs: 2 });
  });
});

it('[P91] a read that waits when the database becomes unreachable is a 503 at once; a write waits for its outcome', async () => {
  for (const outcome of ['answers', 'fails'] as const) {
    const { database, lose, handlers } = createWatch();
    const finish: (() => void)[] = [];
    const wait = () =>
      new Promise<object>((resolve, reject) =>
        finish.push(() => (outcome === 'answers' ? resolve({ late: true }) : reject(new Error('failed')))),
      );
    const routes = [toRoute('get', wait), toRoute('post', wait)];
    await withHttpServer({ routes, database }, async ({ send, errors }) => {
      const [read, write] = [send({ path: '/v1/thing' }), send({ method: 'POST', path: '/v1/thing' })];
      await expect.poll(() => finish.length).toBe(2);
      expect(handlers.size).toBe(1);
      lose();
      const { status, json } = await read;
      expect([status, json.error.details]).toEqual([503, UNAVAILABLE]);
      for (const each of finish) each();
      expect((await write).status).toBe(outcome === 'answers' ? 200 : 500);
      await expect.poll(() => handlers.size).toBe(0);
      expect(errors).toHaveLength(outcome === 'answers' ? 0 : 1);
    });
  }
});

it('[P122] a route that needs no database is served while it is unreachable', async () => {
  const { database, lose } = createWatch();
  const routes = [{ ...toRoute('get', async () => ({ is: 'there' })), isOffline: true as const }];
  await withHttpServer({ routes, database }, async ({ send }) => {
    lose();
    expect((await send({ path: '/v1/thing' })).json).toEqual({ is: 'there' });
  });
});

const UNAVAILABLE = { error_code: 'database_unavailable' };

function createWatch() {
  const handlers = new Set<() => void>();
  const database = {
    isAway: false,
    onAway: (handler: () => void) => {
      handlers.add(handler);
      return () => void handlers.delete(handler);
    },
  };
  const lose = () => {
    database.isAway = true;
    for (const handler of handlers) handler();
  };
  return { database, handlers, lose, find: () => (database.isAway = false) };
}

function toRoute(method: 'get' | 'post', handle: () => Promise<object>) {
  const gives = z.looseObject({});
  return defineRoute({
    name: `thing.${method}`,
    summary: 'A thing',
    method,
    path: '/v1/thing',
    accepts: ['api'],
    gives,
    handle,
  });
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../../support/postgres.ts';
import { isLong, randomText, timeout } from '../../support/seed.ts';
import { FleetloomError } from '../../../packages/server/src/base/errors.ts';
import {
  createNastyRequests,
  type KnownIds,
  learnIds,
} from '../../../packages/server/src/http/hostile/nasty-requests.suite.ts';
import { type RawAnswer, type RawRequest, sendRaw } from '../../../packages/server/src/http/hostile/raw-http.suite.ts';
import { type FleetloomServer, startOn } from '../../../packages/server/src/server.ts';
import { connect, toScript } from '../server.suite.ts';
import { openPostgresStore } from '../../../packages/server/src/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../../packages/server/src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../packages/server/src/store/store.ts';

const REQUESTS = isLong ? 100_000 : 1_500;
const database = await testDatabase();

const openSqlite = (directory: string) => openSqliteStore({ path: join(directory, 'fleetloom.db') });
const openPostgres = () => openPostgresStore(database);

describe('nasty requests', () => {
  it(
    '[H80] any request to any route is answered below 500, errors as JSON with the request id, and the server continues',
    () => withNastyServer(openSqlite, false, (test) => sendMany(test, REQUESTS)),
    timeout * 4,
  );

  it(
    '[H80] the same holds on PostgreSQL, whose texts cannot contain NUL',
    () => withNastyServer(openPostgres, true, (test) => sendMany(test, REQUESTS / 3)),
    timeout * 4,
  );
});

interface NastyServer {
  readonly server: FleetloomServer;
  /** Internal errors. */
  readonly errors: unknown[];
}

async function withNastyServer(
  openStore: (directory: string) => Promise<Store>,
  isShared: boolean,
  run: (test: NastyServer) => Promise<void>,
): Promise<void> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'fleetloom-nasty-'));
  const errors: unknown[] = [];
  const log = { onError: (error: unknown) => void errors.push(error) };
  const onProblem = (problem: unknown) => void errors.push(problem);
  const server = await startOn({ dataDirectory, log, onProblem }, await openStore(dataDirectory), isShared);
  try {
    await run({ server, errors });
  } finally {
    await server.close();
    await rm(dataDirectory, { recursive: true, force: true });
  }
}

async function sendMany({ server, errors }: NastyServer, count: number): Promise<void> {
  const { url, port, firstKey: key = '' } = server;
  const known = await makeSome(url, key);
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as never;
  const next = createNastyRequests({ document, random: randomText(), key, known });
  const faults: string[] = [];
  let successes = 0;
  for (let index = 0; index < count; index++) {
    const request = next();
    const answer = await sendRaw(port, request);
    const fault = findFault(request, answer);
    if (fault !== undefined) faults.push(`${fault} ${show(request)}`);
    if (answer.status === 200) successes += 1;
    learnIds(known, request, answer);
  }
  expect(faults.slice(0, 10)).toEqual([]);
  expect(errors.filter((error) => !isElsewhere(error))).toEqual([]);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  // A run in which nearly all requests are refused proves nothing.
  expect(successes).toBeGreaterThan(count / 20);
}

/** One record of each kind, as targets of the requests. */
async function makeSome(url: string, key: string): Promise<KnownIds> {
  const client = connect(url, key);
  const script = toScript([[{ say: 'hi' }]]);
  const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/echo', system: script });
  const environment = await client.beta.environments.create({ name: 'e' });
  const hosted = await client.beta.environments.create({ name: 'h', config: { type: 'self_hosted' } });
  const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  const file = await client.beta.files.upload({ file: new File(['text'], 'a.txt', { type: 'text/plain' }) });
  return {
    agent_id: [agent.id],
    environment_id: [environment.id, hosted.id],
    session_id: [session.id],
    file_id: [file.id],
    scope_id: [session.id],
    model: ['scripted/echo', 'scripted/echo', 'other'],
  };
}

function findFault({ method, target }: RawRequest, { status, headers, text, isWhole }: RawAnswer): string | undefined {
  // Another owner has the session at this moment, and the answer has the time of the next attempt.
  if (status === 503 && text.includes('"session_elsewhere"') && headers['retry-after'] !== undefined) return undefined;
  if (status < 200 || status >= 500) return `${status} ${text.slice(0, 300)}`;
  if (method === 'HEAD') return undefined;
  if (!isWhole) return `${status} is cut`;
  if (status < 400 || headers['content-type']?.startsWith('text/') === true) return undefined;
  const body = JSON.parse(text) as { type?: string; request_id?: string; error?: { type?: string; message?: string } };
  const { type, message } = body.error ?? {};
  if (target.startsWith('/scripted/v1/responses') && body.type === undefined) {
    const isOpenAiError =
      Object.keys(body.error ?? {}).join() === 'message,type,param,code' && typeof message === 'string';
    const hasId = headers['x-request-id']?.startsWith('req_') === true;
    return isOpenAiError && hasId ? undefined : `${status} ${text.slice(0, 300)}`;
  }
  const isError = body.type === 'error' && typeof type === 'string' && typeof message === 'string';
  return isError && body.request_id === headers['request-id'] ? undefined : `${status} ${text.slice(0, 300)}`;
}

function isElsewhere(error: unknown): boolean {
  return error instanceof FleetloomError && error.code === 'session_elsewhere';
}

function show({ method, target, headers, body }: RawRequest): string {
  return JSON.stringify([method, target.slice(0, 500), headers, body?.toString().slice(0, 1_500)]);
}

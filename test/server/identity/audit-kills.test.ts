import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildProgram } from '../../support/build-program.ts';
import { repositoryRoot } from '../../support/root.ts';
import { isLong, randomText, timeout } from '../../support/seed.ts';
import { ChainCheck } from '../../../packages/server/src/store/chain-check.ts';

const data = mkdtempSync(join(tmpdir(), 'fleetloom-audit-kills-'));
const code = join(repositoryRoot, '.cache', `audit-kills-${process.pid}-${data.slice(-6)}`);
beforeAll(() => buildProgram(code, { host: fileURLToPath(new URL('./audit-host.suite.ts', import.meta.url)) }));
afterAll(() => {
  for (const folder of [code, data]) rmSync(folder, { recursive: true, force: true });
});

/** A server process, asked with the key of the first start. */
interface Host {
  readonly key: string;
  readonly ask: (method: string, path: string, body?: object) => Promise<Record<string, unknown>>;
  readonly visit: (path: string) => Promise<void>;
  /** Resolves once this many requests were answered. */
  readonly answered: (count: number) => Promise<void>;
  readonly kill: () => Promise<void>;
}

async function start(directory: string, known?: string): Promise<Host> {
  const child = spawn(process.execPath, [join(code, 'host.mjs'), directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const ended = once(child, 'exit');
  const { url, key: first } = JSON.parse(line.toString()) as { url: string; key: string | null };
  const key = known ?? first!;
  let [count, wanted] = [0, Number.POSITIVE_INFINITY];
  let reach = () => {};
  return {
    key,
    ask: async (method, path, body) => {
      const headers = { 'x-api-key': key, 'content-type': 'application/json' };
      const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      if (++count >= wanted) reach();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
      return (await response.json()) as Record<string, unknown>;
    },
    answered: (most) =>
      new Promise((resolve) => {
        [wanted, reach] = [most, resolve];
      }),
    visit: async (path) => void (await (await fetch(url + path)).text()),
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

it('[ID67] after kill -9 during changes every action that took effect has its entry, every entry of a record its action, and the chain is whole', {
  timeout: Math.max(timeout, 120_000),
}, async () => {
  const random = randomText();
  const directory = join(data, 'server');
  let host = await start(directory);
  const { key } = host;
  for (let round = 0; round < (isLong ? 200 : 3); round++) {
    const changing = Promise.allSettled(Array.from({ length: 4 }, () => change(host)));
    // By requests, not by time: the machine may be slow.
    await host.answered(10 + random.below(50));
    await host.kill();
    await changing;
    host = await start(directory, key);
    await check(host, directory);
  }
  // Changes were made before the kills.
  expect((await readLog(host.ask)).length).toBeGreaterThan(20);
  await host.kill();
});

/** Changes of every kind, one after the other, until the server is gone. */
async function change({ ask, visit }: Host): Promise<never> {
  for (;;) {
    const agent = (await ask('POST', '/v1/agents', { name: 'a', model: 'scripted/echo' }))['id'] as string;
    await ask('POST', `/v1/agents/${agent}`, { version: 1, name: 'b' });
    const { id: environment } = await ask('POST', '/v1/environments', { name: 'e', config: { type: 'self_hosted' } });
    const { id: workerKey } = await ask('POST', `/v1/environments/${environment as string}/keys`, { name: 'k' });
    await visit((await ask('POST', '/v1/login_links', { role: 'viewer' }))['path'] as string);
    const { data: logins } = (await ask('GET', '/v1/fleet/logins')) as { data: { id: string }[] };
    await ask('POST', `/v1/agents/${agent}/archive`, {});
    if (logins.length > 3) await ask('DELETE', `/v1/fleet/logins/${logins.at(-1)!.id}`).catch(ignoreGone);
    await ask('DELETE', `/v1/environments/${environment as string}/keys/${workerKey as string}`);
  }
}

/** Another request has revoked the same one. */
function ignoreGone(error: unknown): void {
  if (!String(error).includes('404')) throw error;
}

async function check({ ask }: Host, directory: string): Promise<void> {
  const entries = await readLog(ask);
  const targetsOf = (action: string) =>
    entries.filter(({ entry }) => entry.action === action).map(({ entry }) => entry.target!);
  const ids = (records: readonly Named[]) => records.map(({ id }) => id).toSorted();
  const agents = await readAll(ask, '/v1/agents?limit=100&include_archived=true');
  const environments = await readAll(ask, '/v1/environments?limit=100&include_archived=true');
  const { data: logins } = (await ask('GET', '/v1/fleet/logins')) as { data: Named[] };
  // These are one transaction with their entry: neither is there without the other.
  expect(targetsOf('agent.created').toSorted()).toEqual(ids(agents));
  expect(targetsOf('agent.updated').toSorted()).toEqual(ids(agents.filter(({ version = 1 }) => version > 1)));
  expect(targetsOf('agent.archived').toSorted()).toEqual(ids(agents.filter(({ archived_at: at }) => at !== null)));
  expect(targetsOf('environment.created').toSorted()).toEqual(ids(environments));
  const gone = new Set([...targetsOf('login.revoked'), ...targetsOf('login.ended')]);
  expect(
    targetsOf('login.started')
      .filter((id) => !gone.has(id))
      .toSorted(),
  ).toEqual(ids(logins));
  // Files of keys cannot be: their entry is there before them.
  const files = (await readdir(join(directory, 'keys'))).filter((name) => name.endsWith('.json'));
  const created = new Set(targetsOf('key.created'));
  for (const name of files) expect(created).toContain(name.replace('.json', ''));
}

interface Named {
  readonly id: string;
  readonly version?: number;
  readonly archived_at?: string | null;
}

/** The whole log, whose chain is checked. */
async function readLog(ask: Host['ask']): Promise<readonly FleetAuditEntry[]> {
  const all: FleetAuditEntry[] = [];
  const check = new ChainCheck({ seq: 0, hash: '0'.repeat(64) });
  for (let after: number | null = 0; after !== null; ) {
    const page = (await ask('GET', `/v1/fleet/audit?limit=1000&after=${after}`)) as unknown as AuditPage;
    for (const entry of page.data) expect(check.add(entry)).toBeUndefined();
    all.push(...page.data);
    after = page.next_after;
    if (after === null) expect(all.at(-1)?.seq).toBe(page.head.seq);
  }
  return all;
}

interface AuditPage {
  readonly data: readonly FleetAuditEntry[];
  readonly head: { readonly seq: number };
  readonly next_after: number | null;
}

async function readAll(ask: Host['ask'], path: string): Promise<readonly Named[]> {
  const all: Named[] = [];
  for (let page: string | null = ''; page !== null; ) {
    const answer = (await ask('GET', path + (page === '' ? '' : `&page=${encodeURIComponent(page)}`))) as unknown as {
      data: Named[];
      next_page: string | null;
    };
    all.push(...answer.data);
    page = answer.next_page;
  }
  return all;
}

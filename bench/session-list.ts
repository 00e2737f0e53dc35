import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../packages/server/src/store/sqlite/sqlite-store.ts';
import { startServer } from '../packages/server/src/server.ts';
import { addManySessions } from '../packages/server/src/views/sessions/many-sessions.suite.ts';
import { chromiumFlags, chromiumPath } from '../test/support/chromium.ts';
import type { Bench, Measured } from './harness.ts';

/** The list of sessions: a request to a server with many sessions, and the time until a new browser shows the list. */
export const sessionList: Bench = {
  name: 'session-list',
  cases: [
    { name: 'query-10k', run: query },
    { name: 'first-row-1k', run: firstRow },
  ],
};

const QUERIES = ['', '?q=task+99', '?sort=cost', '?status=stalled&status=failed', '?archived=true&limit=200'];
const ROUNDS = 20;
/** The pages, which `npm run bench` has just built. It runs in the root of the repository. */
const pages = join(process.cwd(), 'packages', 'server', 'dist', 'web');

/** The slowest of the queries, each as the median of its rounds. */
async function query(): Promise<Measured> {
  return await withServer(10_000, async (url, key) => {
    const medians: number[] = [];
    for (const each of QUERIES) {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const startedAt = performance.now();
        const response = await fetch(`${url}/v1/fleet/sessions${each}`, { headers: { 'x-api-key': key } });
        await response.arrayBuffer();
        times.push(performance.now() - startedAt);
      }
      medians.push(median(times));
    }
    const value = Math.max(...medians);
    return { value, unit: 'ms', floor: null, ratio: null, goal: '< 50 ms', ok: value < 50 };
  });
}

/** From the address until the first row, in a browser without anything in its cache. */
async function firstRow(): Promise<Measured> {
  return await withServer(1_000, async (url, _, link) => {
    const { chromium } = await import('playwright-core');
    const browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags });
    const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } });
    const page = await context.newPage();
    await page.goto(await link());
    await page.locator('.session-line').first().waitFor();
    const storageState = await context.storageState();
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const fresh = await browser.newContext({ viewport: { width: 1_440, height: 900 }, storageState });
      const opened = await fresh.newPage();
      const startedAt = performance.now();
      await opened.goto(url, { waitUntil: 'commit' });
      await opened.locator('.session-line').first().waitFor();
      times.push(performance.now() - startedAt);
      await fresh.close();
    }
    await browser.close();
    const value = median(times);
    return { value, unit: 'ms', floor: null, ratio: null, goal: '< 1000 ms', ok: value < 1_000 };
  });
}

async function withServer(
  count: number,
  measure: (url: string, key: string, link: () => Promise<string>) => Promise<Measured>,
): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-bench-'));
  const store = await openSqliteStore({ path: join(folder, 'fleetloom.db') });
  await addManySessions(store, { workspaceId: 'wrkspc_default', count, now: Date.now() });
  await store.close();
  const server = await startServer({ dataDirectory: folder, dashboardDirectory: pages });
  try {
    return await measure(server.url, server.firstKey ?? '', () => server.dashboardUrl());
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function median(times: readonly number[]): number {
  return times.toSorted((left, right) => left - right)[Math.floor(times.length / 2)] ?? Number.NaN;
}

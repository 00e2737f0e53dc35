import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { beforeAll, onTestFinished } from 'vitest';
import { type FleetloomServer, type ServerOptions, startServer } from '../../../packages/server/src/server.ts';
import { collectComplaints, openBrowser } from '../../support/chromium.ts';
import { repositoryRoot } from '../../support/root.ts';
import { type Api, createApi } from './api.ts';

// A real server with the dashboard built from the current sources, and a real browser that is signed in.

export interface Dashboard {
  readonly server: FleetloomServer;
  readonly api: Api;
  readonly key: string;
  /** The workspace directory of a session. */
  readonly workspaceOf: (sessionId: string) => string;
  readonly context: BrowserContext;
  readonly page: Page;
  /** Console errors and failed requests of all pages. */
  readonly complaints: string[];
  readonly openTab: () => Promise<Page>;
  /** Stops the server and starts it on the same port and data, which may be changed in between. */
  readonly restart: (between?: (dataDirectory: string) => Promise<void>) => Promise<void>;
}

let browser: Browser | undefined;
let pages = '';

/** Called once per file: one browser for all tests of the process. */
export function useBrowser(options: { readonly isWhole?: boolean } = {}): void {
  beforeAll(async () => {
    pages = await buildPages();
    browser = await openBrowser(options);
  }, 120_000);
}

export async function openDashboard(
  options: Partial<ServerOptions> & {
    readonly isSignedIn?: boolean;
    readonly hash?: string;
    /** The browser to use, which the caller closes. */
    readonly context?: BrowserContext;
  } = {},
): Promise<Dashboard> {
  const { isSignedIn = true, hash = '#/fleet', context: given, ...more } = options;
  const dataDirectory = mkdtempSync(join(tmpdir(), 'fleetloom-dashboard-'));
  const problems: unknown[] = [];
  const start = (port?: number) =>
    startServer({
      dataDirectory,
      port,
      dashboardDirectory: pages,
      onProblem: (problem) => problems.push(problem),
      ...more,
    });
  let server = await start();
  const key = server.firstKey ?? 'any';
  const { url, port } = server;
  const viewport = { width: 1_440, height: 900 };
  const context = given ?? (await browser!.newContext({ viewport, reducedMotion: 'reduce' }));
  const complaints: string[] = [];
  const openTab = async () => {
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    collectComplaints(page, new URL(url).host, complaints);
    return page;
  };
  onTestFinished(async () => {
    // A route handler under way would fail, outside any test, when its page closes.
    await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
    if (given === undefined) await context.close();
    await server.close();
    rmSync(dataDirectory, { recursive: true, force: true });
    if (problems.length > 0) throw new AggregateError(problems, 'the server reported problems');
  });
  const page = await openTab();
  if (isSignedIn) {
    await page.goto(await server.dashboardUrl());
    // The login link redirects to the dashboard.
    await page.locator('.topbar').waitFor();
    if (hash !== '') await page.evaluate(`location.hash = '${hash}'`);
  }
  return {
    get server() {
      return server;
    },
    api: createApi(url, key),
    key,
    workspaceOf: (sessionId) => join(dataDirectory, 'workspaces', sessionId),
    context,
    page,
    complaints,
    openTab,
    restart: async (between) => {
      await server.close();
      await between?.(dataDirectory);
      server = await start(port);
    },
  };
}

/** The pages that `npm test` has built. Without it, they are built once per state of the sources, for all test files. */
async function buildPages(): Promise<string> {
  if (process.env['FLEETLOOM_TEST_PROGRAM'] !== undefined) return join(repositoryRoot, 'packages/server/dist/web');
  const folder = join(repositoryRoot, '.cache', 'pages', await hashSources());
  if (existsSync(folder)) return folder;
  await removeOld(dirname(folder));
  const draft = `${folder}.${process.pid}.draft`;
  const args = [vitePath, 'build', 'packages/web', '--config', 'packages/web/vite.config.ts', '--outDir', draft];
  // Users get React for production. With vitest's own NODE_ENV the tests would run, and measure, the slower one for development.
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [...args, '--logLevel', 'error'], { cwd: repositoryRoot, env });
  // Two processes may build at the same time; both results are equal.
  try {
    renameSync(draft, folder);
  } catch {
    rmSync(draft, { recursive: true, force: true });
  }
  return folder;
}

const vitePath = join(repositoryRoot, 'node_modules', 'vite', 'bin', 'vite.js');

/** Removes builds older than a day. */
async function removeOld(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const path = join(folder, name);
    const madeAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - madeAt > DAY_MS) rmSync(path, { recursive: true, force: true });
  }
}

const DAY_MS = 86_400_000;

async function hashSources(): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(join(repositoryRoot, 'package-lock.json')));
  for (const name of ['web', 'client', 'protocol', 'cli/demo', 'cli/src/demo-fleet']) {
    const folder = join(repositoryRoot, 'packages', name);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile() && !/node_modules|[/\\]dist(?:[/\\]|$)/.test(entry.parentPath))
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted();
    for (const file of files) hash.update(file).update(await readFile(file));
  }
  return hash.digest('hex').slice(0, 24);
}

import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { build, mergeConfig } from 'vite';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { type FleetloomServer, type ServerOptions, startServer } from '../../../packages/server/src/server.ts';
import config from '../../../packages/web/vite.config.ts';
import { chromiumFlags, chromiumPath, collectComplaints } from '../../support/chromium.ts';
import { repositoryRoot } from '../../support/root.ts';
import { type Api, createApi } from './api.ts';

// A real server with the dashboard as the sources have it today, and a real browser that is signed in.

export interface Dashboard {
  readonly server: FleetloomServer;
  readonly api: Api;
  readonly key: string;
  /** Where the files of a session's agents are. */
  readonly workspaceOf: (sessionId: string) => string;
  readonly context: BrowserContext;
  readonly page: Page;
  /** What went wrong in any page without stopping it. */
  readonly complaints: string[];
  readonly openTab: () => Promise<Page>;
  /** Ends the server and starts it on the same port and data. */
  readonly restart: () => Promise<void>;
}

let browser: Browser | undefined;
let pages = '';

/** To be called once in a file: one browser for all its tests. */
export function useBrowser(): void {
  beforeAll(async () => {
    pages = await buildPages();
    browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags });
  }, 120_000);
  afterAll(() => browser?.close());
}

export async function openDashboard(
  options: Partial<ServerOptions> & { readonly isSignedIn?: boolean } = {},
): Promise<Dashboard> {
  const { isSignedIn = true, ...more } = options;
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
  const context = await browser!.newContext({ viewport: { width: 1_440, height: 900 }, reducedMotion: 'reduce' });
  const complaints: string[] = [];
  const openTab = async () => {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    collectComplaints(page, new URL(url).host, complaints);
    return page;
  };
  onTestFinished(async () => {
    await context.close();
    await server.close();
    rmSync(dataDirectory, { recursive: true, force: true });
    if (problems.length > 0) throw new AggregateError(problems, 'the server had problems that nobody was told of');
  });
  const page = await openTab();
  if (isSignedIn) {
    await page.goto(await server.dashboardUrl());
    // The link leads on by itself.
    await page.locator('.topbar').waitFor();
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
    restart: async () => {
      await server.close();
      server = await start(port);
    },
  };
}

/** Built once for what the sources are: several test files share it. */
async function buildPages(): Promise<string> {
  const folder = join(repositoryRoot, '.cache', 'pages', await hashSources());
  if (existsSync(folder)) return folder;
  await removeOld(dirname(folder));
  const draft = `${folder}.${process.pid}.draft`;
  const options = { configFile: false, logLevel: 'error', build: { outDir: draft } } as const;
  await build(mergeConfig(config, options));
  // Of two that build at once, one is first; both made the same.
  try {
    renameSync(draft, folder);
  } catch {
    rmSync(draft, { recursive: true, force: true });
  }
  return folder;
}

/** What was built for sources of days ago. */
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

import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import type { FleetEvent, FleetLoad } from '@fleetloom/protocol/fleet';
import type { CDPSession, Page } from 'playwright-core';
import { chromiumPath } from '../test/support/chromium.ts';
import { encodeLoad, repeatLoad } from './dashboard-load.ts';

// The built dashboard in a real browser, with a server that sends only the load.

export interface LoadedPage {
  readonly page: Page;
  readonly devtools: CDPSession;
  /** Sets the number of events sent per second. */
  setRate(perSecond: number): void;
  /** Events so far. */
  readonly sent: number;
  /** Resolves when the page has folded this many events. */
  untilShown(events: number): Promise<void>;
  close(): Promise<void>;
}

export async function openLoadedPage(pagesDirectory: string, recorded: readonly FleetEvent[]): Promise<LoadedPage> {
  const load = repeatLoad(recorded, () => Date.now());
  let sent = 0;
  let perSecond = 0;
  let reader: ServerResponse | undefined;
  let debt = 0;
  const timer = setInterval(() => {
    if (reader === undefined) return;
    debt += (perSecond * TICK_MS) / 1_000;
    let text = '';
    for (; debt >= 1; debt--, sent++) text += encodeLoad(load.next().value);
    if (text !== '') reader.write(text);
  }, TICK_MS);
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://here');
    if (pathname === '/v1/fleet') {
      reader = response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': here\n\n');
    } else if (pathname.endsWith('/fleet'))
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n');
    else if (pathname === '/v1/fleet/load')
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(LOAD));
    // This server has no health data.
    else if (pathname.endsWith('/health')) response.writeHead(404).end();
    else if (pathname.startsWith('/v1/'))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[],"next_page":null}');
    else void sendFile(response, pagesDirectory, pathname === '/' ? '/index.html' : pathname);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It listens on a port, so the address is an object.
  const { port } = server.address() as AddressInfo;
  const executablePath = chromiumPath();
  // Imported here: it takes half of the heap of a small server, which would count in every other bench.
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({
    executablePath,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run'],
  });
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
  await page.goto(`http://127.0.0.1:${port}/#/fleet`);
  const devtools = await page.context().newCDPSession(page);
  return {
    page,
    devtools,
    setRate: (rate) => {
      perSecond = rate;
    },
    get sent() {
      return sent;
    },
    untilShown: async (events) => {
      const shown = `Number((/seq ([\\d,]+)/.exec(document.querySelector('.link').textContent) ?? [0, '0'])[1].replaceAll(',', ''))`;
      await page.waitForFunction(`${shown} >= ${events}`, undefined, { timeout: 120_000, polling: 200 });
    },
    close: async () => {
      clearInterval(timer);
      await browser.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

const TICK_MS = 10;

const LOAD: FleetLoad = {
  type: 'fleet_load',
  node_id: null,
  nodes: 1,
  endpoint: { active: 5, waiting: 0, max: 32, paused_ms: 0 },
};

async function sendFile(response: ServerResponse, directory: string, path: string): Promise<void> {
  try {
    const bytes = await readFile(join(directory, normalize(path)));
    response.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream' }).end(bytes);
  } catch {
    response.writeHead(404).end();
  }
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

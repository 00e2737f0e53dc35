import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

export interface OpenPage {
  page: Page;
  /** Errors in the console, failed requests and requests to another host. */
  complaints: string[];
}

/** A page in a real browser, which is closed after the test. */
export async function openPage(url: string): Promise<OpenPage> {
  const browser = await openBrowser();
  // In a context of its own: nothing that a page stores is there for the next one.
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  const complaints = collectComplaints(page, new URL(url).host);
  await page.goto(url);
  return { page, complaints };
}

const opened = new Map<string, Promise<Browser>>();

/**
 * One browser for all tests of this process: a start takes seconds of CPU time. It ends with the process. By default it is the
 * shell of Chromium if there is one: the same engine without windows, which take four fifths of the CPU time of a page. Only a
 * whole browser shows notifications and installs pages.
 */
export async function openBrowser({ isWhole = false } = {}): Promise<Browser> {
  const executablePath = isWhole ? chromiumPath() : shellOf(chromiumPath());
  const last = await opened.get(executablePath)?.catch(() => undefined);
  if (last?.isConnected() === true) return last;
  const browser = chromium.launch({ executablePath, args: chromiumFlags });
  opened.set(executablePath, browser);
  return browser;
}

/** The shell beside the browser, as Debian installs it, or the browser itself. */
export function shellOf(browser: string): string {
  const shell = join(dirname(browser), 'chromium-headless-shell');
  return existsSync(shell) ? shell : browser;
}

/** The path of the browser. */
export function chromiumPath(): string {
  if (process.env['FLEETLOOM_NO_BROWSER'] === '1') {
    // Not skipped: a green run must include the browser tests.
    throw new Error(
      'FLEETLOOM_NO_BROWSER=1: no browser was found. Install chromium or name one in FLEETLOOM_CHROMIUM=/path/to/it, ' +
        'or leave the browser tests out with `npm test -- --no-browser`.',
    );
  }
  return process.env['FLEETLOOM_CHROMIUM'] ?? '/usr/bin/chromium';
}

/** Disables background work and requests to hosts other than the page's own server. */
export const chromiumFlags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Adds what goes wrong in a page to a list. */
export function collectComplaints(page: Page, host: string, complaints: string[] = []): string[] {
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText;
    // Periodic requests of a page may be aborted when the test leaves it.
    if (why === 'net::ERR_ABORTED' && /\/v1\/(?:fleet\/load|sessions\/\w+\/health)$/.test(request.url())) return;
    complaints.push(`${request.url()} failed: ${why}`);
  });
  page.on('request', (request) => {
    const { protocol, host: asked } = new URL(request.url());
    if (protocol !== 'data:' && asked !== host) complaints.push(`asked for ${request.url()}`);
  });
  return complaints;
}

// Takes docs/dashboard.png: the dashboard in a real browser while `fleetloom start --demo 25` really runs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setUp } from './setup.mjs';
import { ensureChromium } from './support/chromium.mjs';
import { repositoryRoot } from './support/root.mjs';

/** Delay after two approvals are pending: then most agents write, and few have ended. */
const AFTER_MS = Number(process.argv[2] ?? 1_500);

await setUp({ build: true });
const { chromium } = await import('playwright-core');
const data = mkdtempSync(join(tmpdir(), 'fleetloom-picture-'));
const command = join(repositoryRoot, 'packages', 'cli', 'dist', 'main.js');
const args = [command, 'start', '--demo', '25', '--json', '--port', '0', '--data', data];
const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
const browser = await chromium.launch({ executablePath: await ensureChromium(), args: ['--no-sandbox'] });
try {
  const [line] = await once(server.stdout.setEncoding('utf8'), 'data');
  const page = await browser.newPage({ viewport: { width: 1440, height: 810 }, colorScheme: 'dark' });
  await page.goto(JSON.parse(line).dashboard);
  await page.locator('.counts button', { hasText: '2 need you' }).waitFor({ timeout: 120_000 });
  await page.waitForTimeout(AFTER_MS);
  await page.screenshot({ path: join(repositoryRoot, 'docs', 'dashboard.png') });
  console.error('wrote docs/dashboard.png');
} finally {
  await browser.close();
  server.kill('SIGINT');
  await once(server, 'close');
  rmSync(data, { recursive: true, force: true });
}

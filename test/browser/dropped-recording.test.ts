import type { Page } from 'playwright-core';
import { build, mergeConfig } from 'vite';
import { beforeAll, expect, it } from 'vitest';
import config from '../../packages/web/vite.config.ts';
import { openPage } from '../support/chromium.ts';
import { recording } from '../support/recordings.ts';
import { type Files, serveFiles } from '../support/static-server.ts';

let built: Files;
beforeAll(async () => {
  built = await buildPage();
});

it('[G14] a dropped recording shows its agents, each below the agent that started it, with state and last text', async () => {
  const { page, complaints } = await openPage(`${await serveFiles(built)}/recording.html`);
  await drop(page, 'nested.ndjson', Buffer.from(recording('2.1.325/agents-nested-forward').bytes()).toString());
  const agents = page.getByRole('region', { name: 'Agents' }).getByRole('listitem');
  await agents.nth(3).waitFor();
  expect(await page.getByRole('status').textContent()).toBe('nested.ndjson: 4 agents, 1 turn.');
  expect(await names(page, 'ul > li > .name')).toEqual(['Main agent', 'Search manager', 'Search alpha', 'Search beta']);
  expect(await names(page, 'ul > li > ul > li > .name')).toEqual(['Search manager', 'Search alpha', 'Search beta']);
  expect(await names(page, 'ul > li > ul > li > ul > li > .name')).toEqual(['Search alpha', 'Search beta']);
  expect(await names(page, '.state')).toEqual(Array.from({ length: 4 }, () => '✓ completed'));
  expect((await names(page, '.said')).every((text) => text !== '')).toBe(true);
  expect(complaints).toEqual([]);
});

it('[G14] a file can also be selected, and a later one replaces an earlier one', async () => {
  const { page, complaints } = await openPage(`${await serveFiles(built)}/recording.html`);
  const many = recording('2.1.325/agents-forward-many');
  const choose = (name: string, buffer: Buffer) =>
    page.getByLabel('Recording').setInputFiles({ name, mimeType: 'application/x-ndjson', buffer });
  await choose('many.ndjson', Buffer.from(many.bytes()));
  await page.getByText('many.ndjson: 5 agents').waitFor();
  await choose('notes.txt', Buffer.from('dear diary\nnothing happened\n'));
  await page.getByText('notes.txt contains no stream-json, 2 lines could not be read.').waitFor();
  expect(await names(page, '.name')).toEqual(['Main agent']);
  expect(complaints).toEqual([]);
});

it('[G14] agent text is shown as text, whatever it looks like', async () => {
  const { page, complaints } = await openPage(`${await serveFiles(built)}/recording.html`);
  const html = '<img src=x onerror="document.title = 1"><b>bold</b>';
  const content = [{ type: 'text', text: html }];
  const line = { type: 'assistant', message: { id: 'msg_1', role: 'assistant', content } };
  await drop(page, 'html.ndjson', JSON.stringify(line));
  await page.locator('.said').waitFor();
  expect(await names(page, '.said')).toEqual([html]);
  expect(complaints).toEqual([]);
});

it('[G14] the page follows the light or dark setting of the system', async () => {
  const { page } = await openPage(`${await serveFiles(built)}/recording.html`);
  const colours = () =>
    page.evaluate<string[]>(
      '[getComputedStyle(document.documentElement)].flatMap((s) => [s.backgroundColor, s.color])',
    );
  await page.emulateMedia({ colorScheme: 'light' });
  expect(await colours()).toEqual(['rgb(255, 255, 255)', 'rgb(27, 29, 33)']);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await colours()).toEqual(['rgb(20, 22, 26)', 'rgb(230, 231, 234)']);
});

/** The page as built by `npm run build`, kept in memory. */
async function buildPage(): Promise<Files> {
  const result = await build(mergeConfig(config, { configFile: false, logLevel: 'error', build: { write: false } }));
  const files = [result].flat().flatMap((one) => ('output' in one ? one.output : []));
  return Object.fromEntries(
    files.map((file) => [`/${file.fileName}`, file.type === 'chunk' ? file.code : file.source]),
  );
}

async function drop(page: Page, name: string, content: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}));
    return transfer;
  })()`);
  await page.dispatchEvent('body', 'drop', { dataTransfer });
}

function names(page: Page, selector: string): Promise<string[]> {
  return page.locator(selector).allTextContents();
}

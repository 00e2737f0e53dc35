import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openDashboard, useBrowser } from './open-dashboard.ts';
import { seedSessions } from './seed-sessions.ts';
import { createAgent, startFleetWithApprovals, startSession, untilIdle } from './small-fleet.ts';

useBrowser();

it('[Z420, Z421, Z422, Z423, Z424] an agent is created with a known model and tool policies, edited, compared with its first version, and tried', async () => {
  const { page, api, complaints } = await openDashboard({ hash: '#/agents/new' });
  await createAgent(api, 'writer', [[{ say: 'Done.' }]]);
  await page.reload();
  await page.getByText(/known models; any other name/).waitFor();
  await page.getByText('start the server with --programs default').waitFor();
  const options = await page.evaluate<string[]>(
    `[...document.querySelectorAll('#known-models option')].map(({ value }) => value)`,
  );
  expect(options).toContain('scripted/research');
  await page.getByLabel('Name', { exact: true }).fill('Echo');
  await page.getByLabel('Model').fill('claude-code/default');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').getByText('is not allowed to').waitFor();
  await page.getByLabel('Model').fill('scripted/test');
  await page.getByLabel('Calls of bash').selectOption('deny');
  await page.getByLabel('Calls of read').selectOption('allow');
  await page.getByRole('checkbox', { name: /writer/ }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  const card = page.getByRole('article', { name: 'Echo' });
  await card.getByText('Version 1 is the only one').waitFor();
  expect(await card.locator('[data-policy=deny]').count()).toBe(1);

  await api.post(`/v1/agents/${(await findAgent(api, 'writer')).id}`, { description: 'newer', version: 1 });
  await page.reload();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('button', { name: 'use v2' }).click();
  await page.getByLabel('System prompt').fill('<script>{"turns":[[{"say":"It works."}]]}</script>');
  await page.getByLabel('Calls of bash').selectOption('ask');
  await page.getByRole('button', { name: 'Save' }).click();
  const diff = card.getByRole('group', { name: 'Changes' });
  await diff.getByText('tool bash: ask').waitFor();
  const lines = await diff.locator('[data-diff=added]').allInnerTexts();
  expect(lines.join('\n')).toContain('delegates to: writer v2');
  await card.getByLabel('From').selectOption('2');
  await card.getByText('These versions are equal.').waitFor();
  const { tools, multiagent } = await findAgent(api, 'Echo');
  expect(tools).toMatchObject([{ configs: [{ name: 'bash', enabled: true }, { name: 'read' }] }]);
  expect(multiagent).toMatchObject({ agents: [{ version: 2 }] });

  await card.getByLabel('Start a session with').fill('Say it.');
  await card.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByRole('log', { name: 'Transcript' }).getByText('It works.').waitFor();
  expect(complaints.filter((text) => !text.includes('403'))).toEqual([]);
}, 120_000);

it('[Z425, Z426, Z427] settings show key, engines, webhooks with deliveries and retention; a login link signs in another browser; the theme changes at once', async () => {
  const receiver = createServer((request, response) => void request.resume().on('end', () => response.end()));
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void receiver.close());
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const webhooks = { urls: [`${address}/secret`] };
  const { page, api, server, complaints } = await openDashboard({ hash: '#/settings', webhooks });
  await startSession(api, await createAgent(api, 'one', [[{ say: 'Done.' }]]), 'One');
  const section = (name: string) => page.getByRole('region', { name });
  await section('You').getByText('first key').first().waitFor();
  await section('Engines').getByText('scripted models only').waitFor();
  await section('Engines')
    .getByText(/claude-code/)
    .waitFor();
  await section('Retention').getByText('30 days').waitFor();
  await vi.waitFor(async () => {
    await page.getByRole('button', { name: 'Reload' }).click();
    await section('Webhooks').getByRole('listitem').first().waitFor({ timeout: 1_000 });
  }, 20_000);
  expect(await section('Webhooks').innerText()).toMatch(/✓ working[^]*event/);
  expect(await page.content()).not.toContain('/secret');

  await page.getByRole('button', { name: 'Create a login link' }).click();
  await page.getByText('which only this machine reaches').waitFor();
  const link = await section('Another device').locator('pre').innerText();
  expect(link.startsWith(`${server.url}/login?code=`)).toBe(true);
  const other = await page.context().browser()!.newContext();
  onTestFinished(() => other.close());
  const phone = await other.newPage();
  await phone.goto(link);
  await phone.getByRole('navigation', { name: 'Pages' }).waitFor();

  const background = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  await page.getByRole('button', { name: 'Light', exact: true }).click();
  const light = await background();
  await page.getByRole('button', { name: 'Dark', exact: true }).click();
  expect(await background()).not.toBe(light);
  await section('Notifications')
    .getByLabel(/Decisions can be undone/)
    .selectOption('5000');
  await page.reload();
  expect(
    await section('Notifications')
      .getByLabel(/Decisions can be undone/)
      .inputValue(),
  ).toBe('5000');
  await page.route('**/v1/fleet/settings', (route) => route.abort());
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('alert').getByText('could not be read').waitFor();
  expect(complaints.filter((text) => !text.includes('ERR_FAILED'))).toEqual([]);
}, 120_000);

it('[Z430, Z431, Z432] costs are those of the server for all sessions, with budgets; the period survives a reload, and the CSV adds up', async () => {
  const dashboard = await openDashboard({ hash: '#/costs?days=7' });
  const { page, api, complaints } = dashboard;
  await page.getByRole('heading', { name: 'No session in these 7 days' }).waitFor();
  await seedSessions(dashboard, 300);
  const spender = await createAgent(api, 'spender', [[{ call: 'glob', input: { pattern: '*' } }], [{ say: 'Done.' }]]);
  const { id: environmentId } = await api.post('/v1/environments', { name: 'budgets' });
  const session = await api.post('/v1/sessions', {
    agent: spender,
    environment_id: environmentId,
    title: 'Over its budget',
    budget: { type: 'limit', max_list_cost: { amount: '0', currency: 'USD' } },
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }],
  });
  await untilIdle(api, session.id);
  await page.reload();
  const total = (name: string) => page.locator('.totals > div', { hasText: name }).locator('dd');
  await total('Sessions').getByText('302').waitFor();
  await page.getByText('The cost of 6 sessions is not known').waitFor();
  const budgets = page.getByRole('region', { name: 'Budgets' });
  await budgets.getByText('1 session reached its budget').waitFor();
  await budgets
    .getByRole('row', { name: /Over its budget/ })
    .getByText('! reached')
    .waitFor();
  await page.getByRole('link', { name: '30 days' }).click();
  await page.reload();
  await page.locator('nav a[aria-current]', { hasText: '30 days' }).waitFor();
  await total('Sessions').getByText('302').waitFor();
  expect(await page.locator('.day-chart i').count()).toBe(30);

  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Download CSV').click()]);
  const [, ...lines] = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
  const sum = lines.reduce((cost, line) => cost + Number(line.split(',')[6]), 0);
  expect(await total('Cost').innerText()).toBe(`$${sum.toFixed(2)}`);
  await page.getByRole('region', { name: 'Agents' }).getByRole('link', { name: 'spender' }).click();
  await page.locator('.session-line', { hasText: 'Over its budget' }).waitFor();
  // The server was restarted with more sessions: it refuses connections, and requests while it begins or ends.
  expect(complaints.filter((text) => !/ERR_CONNECTION_REFUSED|status of 503/.test(text))).toEqual([]);
}, 120_000);

it('[Z440, Z441, Z443] on a phone every page fits, rows open with a tap, and the threads of a session are a drawer; its actions are buttons', async () => {
  const { page, api, server, complaints, context } = await openDashboard();
  const sessionId = await startFleetWithApprovals(api, 2);
  await page.locator('.thread-row[data-state=needs]').nth(1).waitFor();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);

  await page.goto(`${server.url}/#/thread/${sessionId}`);
  await page.reload();
  const tools = page.getByRole('toolbar', { name: 'Actions on this session' });
  await tools.getByRole('button', { name: 'Fork' }).click();
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await tools.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('dialog').getByText('OTLP').first().waitFor();
  await page.keyboard.press('Escape');
  await tools.getByRole('button', { name: 'Share' }).click();
  await page.getByText('Link copied.').waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
    `${server.url}/#/session/${await threadPath(page)}`,
  );
  await tools.getByRole('button', { name: 'Split' }).click();
  await page.locator('.beside').waitFor();
  await tools.getByRole('button', { name: 'Compare' }).click();
  await page.getByText('difference').waitFor();

  for (const width of [360, 430]) {
    await page.setViewportSize({ width, height: 800 });
    for (const view of [
      'sessions',
      'fleet',
      'inbox',
      `session/${sessionId}`,
      'agents',
      'agents/new',
      'costs',
      'settings',
    ]) {
      await page.evaluate(`location.hash = '#/${view}'`);
      await page.locator('main > *').first().waitFor();
      // The page before may still be shown, in a layout for the other width.
      const widthOf = async () => [view, width, await page.evaluate('document.documentElement.scrollWidth')];
      await expect.poll(widthOf).toEqual([view, width, width]);
    }
  }
  await page.evaluate(`location.hash = '#/fleet'`);
  await page.reload();
  const row = page.locator('.thread-row', { hasText: 'writer' }).first();
  const box = (await row.boundingBox())!;
  expect(box.height).toBeGreaterThanOrEqual(44);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height - 6);
  await page.getByRole('log', { name: 'Transcript' }).waitFor();
  const tree = page.getByRole('navigation', { name: 'Threads of this session' });
  expect(await tree.isVisible()).toBe(false);
  const open = page.getByRole('button', { name: /3 threads/ });
  await open.click();
  expect((await tree.getByRole('link').first().boundingBox())!.height).toBeGreaterThanOrEqual(44);
  await page.keyboard.press('Escape');
  await tree.waitFor({ state: 'hidden' });
  await open.click();
  await page.getByRole('button', { name: 'Close the threads' }).click({ position: { x: 425, y: 300 } });
  await tree.waitFor({ state: 'hidden' });
  await open.click();
  await tree.getByRole('link', { name: /lead/ }).click();
  await tree.waitFor({ state: 'hidden' });
  await page.getByRole('heading', { name: 'lead' }).waitFor();
  expect(complaints).toEqual([]);
}, 120_000);

/** The session and thread that the address names. */
async function threadPath(page: Page): Promise<string> {
  const row = page.locator('.thread-tree a[aria-current]');
  return (await row.getAttribute('href'))!.replace('#/session/', '');
}

type Api = Awaited<ReturnType<typeof openDashboard>>['api'];

async function findAgent(api: Api, name: string): Promise<{ id: string; tools: unknown; multiagent: unknown }> {
  const agents = await api.list<{ id: string; name: string; tools: unknown; multiagent: unknown }>('/v1/agents');
  return agents.find((agent) => agent.name === name)!;
}

import { expect, it } from 'vitest';
import { shellLimits } from '../../../packages/web/src/shell/limits.ts';
import { storeLimits } from '../../../packages/web/src/stores/limits.ts';
import { openDashboard, useBrowser } from './open-dashboard.ts';
import { createAgent, startFleetWithApprovals, startSession, startWritingFleet, untilIdle } from './small-fleet.ts';

useBrowser();

const patience = { timeout: 20_000, interval: 50 };

it('[Z240, Z262] the selected thread stays while sessions begin and end, and a link to nothing says so', async () => {
  const { page, api, complaints } = await openDashboard();
  const sessionId = await startWritingFleet(api, 2, 5, 5);
  await untilIdle(api, sessionId);
  // Without an id the newest session is opened, once.
  await page.evaluate(`location.hash = '#/session'`);
  const head = page.locator('.thread-head h1');
  await head.getByText('lead').waitFor();
  expect(new URL(page.url()).hash).toBe(`#/session/${sessionId}`);
  await page.getByRole('link', { name: /talker\s*2/ }).click();
  await head.getByText('talker').waitFor();
  const hash = new URL(page.url()).hash;
  const other = await createAgent(api, 'other', [[{ say: 'I am newer.' }]]);
  const newer = await startSession(api, other, 'Newer');
  await untilIdle(api, newer);
  await expect.poll(() => page.locator('.state-counts').getAttribute('aria-busy')).toBe('false');
  await page.waitForTimeout(1_000);
  expect([await head.textContent(), new URL(page.url()).hash]).toEqual(['talker2', hash]);
  // While the log is read after a reload, no other thread takes its place.
  await page.reload();
  await head.waitFor();
  expect(await head.textContent()).toBe('talker2');

  const open = async (next: string) => await page.evaluate(`location.hash = '${next}'`);
  await open(`#/session/${sessionId}/sthr_nothing`);
  await page.getByRole('heading', { name: 'There is no thread sthr_nothing' }).waitFor();
  await open('#/agents/agent_nothing');
  await page.getByRole('heading', { name: 'There is no agent agent_nothing' }).waitFor();
  await open('#/nonsense');
  await page.getByRole('heading', { name: 'There is no page nonsense' }).waitFor();
  expect(complaints).toEqual([]);
  await open('#/session/sesn_nothing');
  await page.getByRole('heading', { name: 'There is no session sesn_nothing' }).waitFor();
  await page.getByRole('link', { name: 'All sessions' }).click();
  await page.locator('.session-line').nth(1).waitFor();
}, 180_000);

it('[Z241, Z242] drafts survive navigation and a reload until they are sent, and x asks before it interrupts', async () => {
  const { page, api, complaints } = await openDashboard();
  const sessionId = await startWritingFleet(api, 1, 400, 60);
  await page.getByRole('link', { name: /^talker/ }).click();
  await page.keyboard.press('s');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('Half a thou');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Inbox' }).click();
  await page.goBack();
  await page.reload();
  const composer = page.getByLabel(/^Message talker/);
  await composer.waitFor();
  expect(await composer.inputValue()).toBe('Half a thou');
  await page.keyboard.press('s');
  expect(await dialog.getByRole('textbox').inputValue()).toBe('Half a thou');
  await dialog.getByRole('textbox').fill('Half a thought.');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Sent.').waitFor();
  await page.reload();
  await composer.waitFor();
  expect(await composer.inputValue()).toBe('');
  // The first message of a new session too.
  await page.keyboard.press('c');
  await dialog.getByLabel('First message').fill('Later');
  await page.keyboard.press('Escape');
  await page.reload();
  await composer.waitFor();
  await page.keyboard.press('c');
  expect(await dialog.getByLabel('First message').inputValue()).toBe('Later');
  await page.keyboard.press('Escape');

  await api.send(sessionId, { type: 'user.interrupt' });

  const running = await startWritingFleet(api, 1, 400, 60);
  await page.evaluate(`location.hash = '#/session/${running}'`);
  await page.locator('.thread-head', { hasText: 'waits' }).waitFor();
  await page.keyboard.press('x');
  await dialog.getByText('Interrupt lead?').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await api.events(running, 'user.interrupt')).toEqual([]);
  await page.keyboard.press('x');
  await dialog.getByRole('button', { name: 'Interrupt' }).click();
  await page.locator('.thread-head', { hasText: 'cancelled' }).waitFor();
  await api.send(running, { type: 'user.interrupt' });
  expect(complaints).toEqual([]);
}, 180_000);

it('[Z243, Z244] the palette opens with Ctrl+K, finds sessions of the server first, and lists every action', async () => {
  const { page, api, complaints } = await openDashboard({ hash: '#/sessions' });
  const agent = await createAgent(api, 'worker', [[{ say: 'Done.' }]]);
  const environment = await api.post('/v1/environments', { name: 'here' });
  for (let count = 0; count < 15; count++)
    await api.post('/v1/sessions', { agent, environment_id: environment.id, title: `Chore ${count}` });
  const wanted = await startSession(api, agent, 'Sort the archive');
  await page.locator('.session-line').nth(15).waitFor();
  expect(await page.locator('.palette-button kbd').textContent()).toBe('Ctrl+K');
  const limits = new Set<string>();
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    // The list below is read again while its sessions begin.
    const isList = searchParams.get('limit') === String(storeLimits.listPage);
    if (pathname === '/v1/fleet/sessions' && !isList)
      limits.add(`${searchParams.has('q')} ${searchParams.get('limit')}`);
  });
  await page.keyboard.press('Control+k');
  const options = page.locator('#pick-list [role=option]');
  // Every action of this page and of the shell, beside recent sessions.
  await options.filter({ hasText: 'New session' }).first().waitFor();
  const names = (await options.allTextContents()).join('\n');
  for (const action of [
    'Sessions: rename',
    'Sessions: delete',
    'Back to live',
    'Sign out',
    'Dark theme',
    'Sessions: Failed',
  ])
    expect(names).toContain(action);
  await page.keyboard.type('chore');
  await page.getByText('15 sessions found').waitFor();
  await expect.poll(() => options.count(), patience).toBe(15);
  await page.getByRole('combobox', { name: 'Command palette' }).fill('archive');
  await page.getByText('1 session found').waitFor();
  expect(await options.first().textContent()).toContain('Sort the archive');
  expect([...limits]).toEqual([`false ${shellLimits.recentMax}`, `true ${shellLimits.foundMax}`]);
  await page.keyboard.press('Enter');
  await expect.poll(() => new URL(page.url()).hash).toBe(`#/session/${wanted}`);
  // The actions are those of the page that is shown.
  await page.locator('.thread-head').waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('export the session');
  await options.filter({ hasText: 'export the session' }).click();
  await page.getByRole('dialog', { name: 'Export the session' }).waitFor();
  expect(complaints.filter((text) => !text.endsWith('ERR_ABORTED'))).toEqual([]);
}, 180_000);

it('[Z250, Z251] the fleet shows what is active, needs-you first and finished sessions collapsed, without empty columns', async () => {
  const { page, api, complaints } = await openDashboard();
  const done = await startWritingFleet(api, 1, 3, 5);
  await untilIdle(api, done);
  // A session that ended stays until something else is active: no white page at the end.
  await page.locator('.thread-row').nth(1).waitFor();
  await page.getByRole('columnheader', { name: 'Context window used' }).waitFor();
  expect(await page.locator('.table').getAttribute('data-empty')).toContain('cost');
  const hidden = await page.locator('.columns [data-column=cost]').boundingBox();
  expect(hidden!.width).toBe(0);
  const asks = await startFleetWithApprovals(api, 1);
  const running = await startWritingFleet(api, 1, 400, 60);
  const heads = page.locator('.session-row');
  await expect
    .poll(() => heads.evaluateAll((all) => all.map((one) => one.getAttribute('data-key'))), patience)
    .toEqual([asks, running, done]);
  await expect
    .poll(() => heads.evaluateAll((all) => all.map((one) => one.getAttribute('aria-expanded'))), patience)
    .toEqual(['true', 'true', 'false']);
  expect(await heads.nth(2).textContent()).toContain('done · 2 threads');
  expect(await heads.nth(0).textContent()).toContain('needs you · 2 threads');
  await page.getByText('All 3 sessions').click();
  await expect.poll(() => new URL(page.url()).hash).toBe('#/sessions');
  await api.send(running, { type: 'user.interrupt' });
  expect(complaints).toEqual([]);
}, 180_000);

it('[Z260, Z261] the state line says connecting, loading, live, reconnecting and replay; unknown counts are not 0', async () => {
  const { page, api, server, restart } = await openDashboard();
  const sessionId = await startWritingFleet(api, 1, 3, 5);
  await untilIdle(api, sessionId);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/v1/sessions?limit=100', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('about:blank');
  await page.goto(`${server.url}/#/fleet`);
  const link = page.locator('.link');
  await expect.poll(() => link.getAttribute('data-link'), patience).toBe('loading');
  expect(await page.locator('.counts').textContent()).not.toMatch(/\d/);
  await page.evaluate(`location.hash = '#/inbox'`);
  await page.getByRole('heading', { name: 'Loading …' }).waitFor();
  expect(await page.getByText('Nothing needs you').count()).toBe(0);
  release();
  await page.getByRole('heading', { name: 'Nothing needs you.' }).waitFor();
  await expect.poll(() => link.textContent(), patience).toMatch(/^● live · seq/);

  await restart(async () => {
    await expect
      .poll(() => link.textContent(), patience)
      .toMatch(/^◌ reconnecting · last byte \d+ s ago · next try in \d+ s/);
  });
  await expect.poll(() => link.textContent(), patience).toMatch(/^● live/);
  await page.evaluate(`location.hash = '#/session/${sessionId}'`);
  await page.getByRole('log', { name: 'Transcript' }).waitFor();
  await page.keyboard.press('[');
  await expect.poll(() => link.textContent(), patience).toMatch(/^◷ replay at \d\d:\d\d:\d\d/);
  await page.keyboard.press('.');
  await expect.poll(() => link.textContent(), patience).toMatch(/^● live/);
}, 180_000);

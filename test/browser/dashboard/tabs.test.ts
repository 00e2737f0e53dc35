import { expect, it, vi } from 'vitest';
import { openDashboard, useBrowser } from './open-dashboard.ts';
import { startWritingFleet, untilIdle } from './small-fleet.ts';

useBrowser();

it('[Z36] two tabs share one connection and show the same, also after a restart of the server: caught up, no gaps', async () => {
  const { page, api, server, openTab, restart, key, complaints } = await openDashboard();
  const sessionId = await startWritingFleet(api, 3, 120, 60);
  const rows = (tab: typeof page) => tab.locator('.thread-row');
  await rows(page).nth(3).waitFor();
  const second = await openTab();
  await second.goto(`${server.url}/#/fleet`);
  await rows(second).nth(3).waitFor();
  const openStreams = async () => {
    const text = await (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${key}` } })).text();
    return /^fleetloom_open_streams (\d+)$/m.exec(text)?.[1];
  };
  // Requests for logs end; one stream stays open.
  await vi.waitFor(async () => expect(await openStreams()).toBe('1'), 10_000);
  await vi.waitFor(
    async () => expect(await page.locator('.link').getAttribute('title')).toContain('2 tabs on one connection'),
    10_000,
  );

  await restart();
  await vi.waitFor(async () => {
    for (const tab of [page, second]) expect(await tab.locator('.link').textContent()).toMatch(/live .* caught up/);
  }, 30_000);
  await vi.waitFor(async () => expect(await openStreams()).toBe('1'), 10_000);
  await untilIdle(api, sessionId);
  for (const tab of [page, second]) {
    await tab.locator('.counts button', { hasText: '4 done' }).waitFor();
    expect(await tab.locator('.link').textContent()).toContain('0 gaps');
  }
  const texts = (tab: typeof page) => rows(tab).locator('[data-column=doing]').allTextContents();
  expect(await texts(second)).toEqual(await texts(page));
  await second.close();
  await vi.waitFor(
    async () => expect(await page.locator('.link').getAttribute('title')).toContain('1 tab on one connection'),
    10_000,
  );
  // Requests fail while the server is down; there are no other complaints.
  expect(complaints.filter((text) => !/ERR_|Failed to load resource/.test(text))).toEqual([]);
}, 180_000);

it('[Z36, Z300] a tab without shared workers has its own connection; a browser with a wrong clock shows the right ages', async () => {
  const { page, api, context, server, complaints } = await openDashboard({ isSignedIn: false });
  await context.addInitScript('delete globalThis.SharedWorker');
  await context.addInitScript('{ const { now } = Date; Date.now = () => now() + 3_600_000; }');
  await page.goto(`${await server.dashboardUrl()}&page=fleet`);
  await page.getByRole('heading', { name: 'No agents yet' }).waitFor();
  const sessionId = await startWritingFleet(api, 1, 5, 5);
  await untilIdle(api, sessionId);
  await page.locator('.counts button', { hasText: '2 done' }).waitFor();
  for (const column of ['age', 'in']) {
    const shown = await page.locator(`.thread-row [data-column=${column}]`).allTextContents();
    expect(shown).toHaveLength(2);
    for (const age of shown) expect(age).toMatch(/^\d+s$/);
  }
  expect(await page.locator('.link').textContent()).toMatch(/lag [\d,]+ ms/);
  expect(complaints).toEqual([]);
}, 180_000);

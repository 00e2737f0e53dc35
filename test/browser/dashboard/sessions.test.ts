import type { FleetSessionList } from '@fleetloom/protocol/fleet';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { pageLimits } from '../../../packages/web/src/sessions/limits.ts';
import { openDashboard, useBrowser } from './open-dashboard.ts';
import { seedSessions } from './seed-sessions.ts';
import { createAgent, startSession, untilIdle } from './small-fleet.ts';

useBrowser();

const patience = { timeout: 20_000, interval: 50 };

it('[Z220, Z222, Z223] the home page lists every session with its figures and updates by events, without polling', async () => {
  const { page, api, complaints } = await openDashboard({ hash: '' });
  await page.getByRole('heading', { name: 'No agents yet' }).waitFor();
  expect(await page.title()).toBe('Sessions · Fleetloom');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  const writer = await createAgent(api, 'writer', [[{ call: 'write', input: { file_path: 'a', content: 'b' } }], []]);
  const talker = await createAgent(api, 'talker', [[{ say: 'Done.' }]]);
  const waiting = await startSession(api, writer, 'Write a file');
  await startSession(api, talker, '');
  const rows = page.locator('.session-line');
  const cells = (name: string) => rows.locator(`[data-cell=${name}]`).allTextContents();
  await expect.poll(() => cells('state'), patience).toEqual(['✓done', '!needs you']);
  // Without a title, the session has the first words of its first message as its name.
  expect(await rows.locator('[data-cell=name] a').allTextContents()).toEqual(['Begin.', 'Write a file']);
  expect(await cells('agent')).toEqual(['talker', 'writer']);
  expect(await cells('who')).toEqual(['first key', 'first key']);
  expect(await cells('cost')).toEqual([expect.stringMatching(/^\$0/), expect.stringMatching(/^\$0/)]);
  for (const text of await cells('tokens')) expect(text).toMatch(/^[1-9][\d.]*k? tokens$/);
  for (const text of await cells('started')) expect(text).toMatch(/^\d\d:\d\d$/);
  for (const text of await cells('duration')) expect(text).toMatch(/^\d+ s$/);
  const counts = page.getByRole('list', { name: 'Sessions by state' });
  await expect.poll(() => counts.textContent(), patience).toContain('1 needs you');

  // Another reader answers: the row and the counts change here.
  const [call] = await api.events(waiting, 'agent.tool_use');
  await api.send(waiting, { type: 'user.tool_confirmation', tool_use_id: call!.id, result: 'allow' });
  await expect.poll(() => cells('state'), patience).toEqual(['✓done', '✓done']);
  await expect.poll(() => counts.textContent(), patience).toContain('0 needs you');
  // While nothing happens, nothing is requested.
  await page.waitForTimeout(2_500);
  asked.length = 0;
  await page.waitForTimeout(3_000);
  expect(asked).toEqual([]);
  // A session that is deleted elsewhere leaves the list.
  await api.delete(`/v1/sessions/${waiting}`);
  await expect.poll(() => cells('state'), patience).toEqual(['✓done']);
  expect(complaints).toEqual([]);
}, 180_000);

it('[Z221, Z228] search, facets and order are in the address: a reload, a link and a saved view show the same', async () => {
  const dashboard = await openDashboard({ hash: '' });
  const { page, complaints, openTab } = dashboard;
  await seedSessions(dashboard, 60);
  complaints.length = 0;
  await page.goto('about:blank');
  await page.goto(dashboard.server.url);
  const rows = page.locator('.session-line');
  const names = () => rows.locator('[data-cell=name] a').allTextContents();
  await rows.first().waitFor();
  const search = page.getByRole('searchbox');
  expect(await search.getAttribute('maxlength')).toBe(String(pageLimits.searchCharsMax));
  // One search for several letters: it waits for the last one.
  const searches: string[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === '/v1/fleet/sessions' && searchParams.has('q')) searches.push(searchParams.get('q')!);
  });
  await page.keyboard.press('/');
  await page.evaluate(`(() => {
    const field = document.activeElement;
    const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
    for (const text of ['t', 'ta', 'tas', 'task']) {
      set.call(field, text);
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
  })()`);
  await expect.poll(names, patience).toHaveLength(18);
  expect(searches).toEqual(['task']);
  expect(new URL(page.url()).hash).toBe('#/sessions?q=task');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /done$/ }).click();
  await page.getByRole('combobox', { name: 'Agent' }).selectOption('agent 3');
  await expect.poll(names, patience).toEqual(['Task 3']);
  await page.getByRole('combobox', { name: 'Agent' }).selectOption('');
  await page.getByRole('columnheader', { name: 'Cost' }).getByRole('button').click();
  await expect.poll(() => new URL(page.url()).hash).toBe('#/sessions?q=task&status=done&sort=cost');
  const costs = () => rows.locator('[data-cell=cost]').allTextContents();
  await expect.poll(async () => (await costs()).slice(0, 3), patience).toEqual(['$0.04', '$0.04', '$0.03']);
  const shown = await names();

  await page.getByRole('button', { name: /Save this view/ }).click();
  await page.getByLabel('Name').fill('Dear tasks');
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Dear tasks' }).waitFor();
  await page.reload();
  await expect.poll(names, patience).toEqual(shown);
  expect(await search.inputValue()).toBe('task');
  expect(await page.getByRole('button', { name: /done$/ }).getAttribute('aria-pressed')).toBe('true');
  expect(await page.getByRole('columnheader', { name: 'Cost' }).getAttribute('aria-sort')).toBe('descending');
  // Back leads through the filters; the view leads there again, in another tab too.
  await page.goBack();
  await expect.poll(() => new URL(page.url()).hash).toBe('#/sessions?q=task&status=done');
  const second = await openTab();
  await second.goto(dashboard.server.url);
  await second.getByRole('link', { name: 'Dear tasks' }).click();
  await expect
    .poll(() => second.locator('.session-line [data-cell=name] a').allTextContents(), patience)
    .toEqual(shown);
  await second.getByRole('button', { name: 'Remove the view Dear tasks' }).click();
  await page.reload();
  await rows.first().waitFor();
  expect(await page.getByRole('link', { name: 'Dear tasks' }).count()).toBe(0);
  expect(complaints).toEqual([]);
}, 180_000);

it('[Z222, Z230] 10,000 sessions: the counts are those of the API after a reload, only visible rows exist, and frames stay short', async () => {
  const dashboard = await openDashboard({ hash: '' });
  const { page, api, complaints, server } = dashboard;
  await seedSessions(dashboard, 10_000);
  complaints.length = 0;
  await page.goto('about:blank');
  await page.goto(server.url);
  const rows = page.locator('.session-line');
  await rows.first().waitFor();
  await page.reload();
  await rows.first().waitFor();
  const { facets, total } = await api.get<FleetSessionList>('/v1/fleet/sessions');
  expect(total).toBe(9_001);
  const { states } = facets;
  await page.getByText('9,001 sessions', { exact: true }).waitFor();
  const digits = async (selector: string) =>
    (await page.locator(selector).allTextContents()).map((text) => Number(text.replaceAll(',', '')));
  const { needs_you: needs, stalled, failed, running, done, idle, archived } = states;
  expect(await digits('.session-facets b')).toEqual([needs, stalled, failed, running, done, idle, archived]);
  await expect.poll(() => digits('.state-counts b')).toEqual([needs, running, stalled, failed]);
  expect(await rows.count()).toBeLessThan(60);

  // Scrolling, to the end too: pages are read as they are needed.
  const list = page.locator('.session-rows');
  const scrolled = await scriptPerFrame(
    page,
    `(frame) => { document.querySelector('.session-rows').scrollTop = frame * 300; }`,
  );
  expect(scrolled).toBeLessThan(8);
  await list.evaluate((element) => element.scrollTo(0, 1e9));
  await expect.poll(() => rows.last().getAttribute('aria-rowindex'), patience).toBe('9002');
  expect(await rows.count()).toBeLessThan(60);
  await list.evaluate((element) => element.scrollTo(0, 0));
  const filtered = await scriptPerFrame(
    page,
    `(frame) => { if (frame % 15 === 0) document.querySelectorAll('.session-facets button')[(frame / 15) % 4].click(); }`,
  );
  expect(filtered).toBeLessThan(8);
  expect(complaints.filter((text) => !text.endsWith('ERR_ABORTED'))).toEqual([]);
}, 180_000);

it('[Z224] loading, no match, an error and a lost connection are shown as such, each with what to do', async () => {
  const dashboard = await openDashboard({ hash: '' });
  const { page, server, restart } = dashboard;
  await seedSessions(dashboard, 10);
  await page.goto('about:blank');
  let answer: 'wait' | 'fail' | 'pass' = 'wait';
  const waiting: (() => void)[] = [];
  await page.route('**/v1/fleet/sessions*', async (route) => {
    if (answer === 'wait') await new Promise<void>((resolve) => waiting.push(resolve));
    if (answer === 'fail') return route.fulfill({ status: 500, body: 'disk full' });
    return route.continue();
  });
  await page.goto(server.url);
  await page.getByText('Loading sessions …').waitFor();
  // Unknown numbers are not 0.
  expect(await page.locator('.session-facets').textContent()).not.toMatch(/\d/);
  expect(await page.locator('.state-counts').textContent()).not.toMatch(/\d/);
  answer = 'fail';
  for (const go of waiting) go();
  const alert = page.getByRole('alert');
  await alert.getByText('The sessions could not be read').waitFor();
  expect(await alert.textContent()).toContain('disk full');
  answer = 'pass';
  await alert.getByRole('button', { name: 'Try again' }).click();
  const rows = page.locator('.session-line');
  await rows.first().waitFor();
  await page.getByRole('searchbox').fill('no such words');
  await page.getByRole('heading', { name: 'No session matches' }).waitFor();
  await page.locator('.no-sessions').getByRole('button', { name: 'Clear filters' }).click();
  await rows.first().waitFor();
  await page.unroute('**/v1/fleet/sessions*');
  await restart(async () => {
    await page.getByText(/^Not connected: the rows are from \d\d:\d\d:\d\d/).waitFor();
    await page.getByText(/reconnecting · last byte \d+ s ago/).waitFor();
    expect(await rows.count()).toBeGreaterThan(5);
  });
  await page.getByText(/Not connected/).waitFor({ state: 'detached' });
  await page.getByText(/live · seq/).waitFor();
}, 180_000);

it('[Z225, Z226, Z227] sessions are started, renamed, cancelled, archived and deleted, each after a question that lists the consequences', async () => {
  const { page, api, complaints } = await openDashboard({ hash: '#/inbox' });
  const writer = await createAgent(api, 'writer', [[{ call: 'write', input: { file_path: 'a', content: 'b' } }], []]);
  const talker = await createAgent(api, 'talker', [[{ say: 'About {{last_user}}.' }]]);
  await startSession(api, writer, 'Waits');
  for (const title of ['One', 'Two']) await untilIdle(api, await startSession(api, talker, title));
  // From any page.
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('First message').fill('the weather');
  await dialog.getByRole('combobox', { name: 'Agent' }).selectOption('talker');
  await dialog.getByLabel('Repository').fill('/nowhere');
  await dialog.getByLabel('Budget').fill('2.50');
  await dialog.getByRole('button', { name: /^Start/ }).click();
  // Directories are not allowed here: the message says so, and nothing is lost.
  await dialog.getByRole('alert').getByText('directory that this server allows').waitFor();
  await dialog.getByLabel('Repository').fill('');
  await dialog.getByRole('combobox', { name: 'Model' }).selectOption('scripted/test (of the agent)');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('log', { name: 'Transcript' }).getByText('About the weather.').waitFor();
  const [started] = await api.list<{ budget: object }>('/v1/sessions');
  expect(started!.budget).toMatchObject({ max_list_cost: { amount: '250', currency: 'USD' } });

  await page.keyboard.press('g');
  await page.keyboard.press('s');
  const line = (name: string) => page.locator('.session-line', { has: page.getByRole('link', { name, exact: true }) });
  await line('the weather').waitFor();
  await line('the weather').locator('[data-cell=agent]').click();
  await page.keyboard.press('r');
  await dialog.getByLabel('Title').fill('Weather report');
  await page.keyboard.press('Enter');
  await line('Weather report').waitFor();

  // Cancelled: only what runs.
  for (const name of ['Waits', 'One']) await line(name).getByRole('checkbox').check();
  await page.getByRole('toolbar').getByRole('button', { name: 'Cancel' }).click();
  await dialog.getByText('1 session of the selection is left alone').waitFor();
  await dialog.getByRole('button', { name: 'Cancel 1 session' }).click();
  await page.getByText('1 session cancelled.').waitFor();
  await expect.poll(() => line('Waits').locator('[data-cell=state]').textContent(), patience).not.toContain('needs');

  await line('One').getByRole('checkbox').check();
  await page.keyboard.press('e');
  await dialog.getByText('They cannot run again.').waitFor();
  await dialog.getByRole('button', { name: 'Archive 1 session' }).click();
  await line('One').waitFor({ state: 'detached' });
  await line('Two').getByRole('checkbox').check();
  await line('Waits').getByRole('checkbox').check();
  await page.keyboard.press('Delete');
  await dialog.getByText('This cannot be undone.').waitFor();
  await dialog.getByText(/the transcripts and logs of 2 threads \([\d.]+k? tokens\)/).waitFor();
  // Enter does not confirm a deletion.
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  expect(await line('Two').count()).toBe(1);
  await page.keyboard.press('Delete');
  await dialog.getByRole('button', { name: 'Delete 2 sessions' }).click();
  await line('Two').waitFor({ state: 'detached' });
  await line('Waits').waitFor({ state: 'detached' });
  const { data } = await api.get<FleetSessionList>('/v1/fleet/sessions?archived=true&sort=name');
  expect(data.map(({ name, state }) => [name, state])).toEqual([
    ['One', 'archived'],
    ['Weather report', 'done'],
  ]);
  expect(complaints.filter((text) => !text.includes('403'))).toEqual([]);
}, 180_000);

/** Milliseconds of script per frame while an action runs in each of 120 frames. */
async function scriptPerFrame(page: Page, act: string): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  // Time of the thread: what other programs take of the processor in the meantime does not count.
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'ScriptDuration')!.value * 1_000;
  };
  const before = await read();
  await page.evaluate(`(async () => {
    const act = ${act};
    for (let frame = 0; frame < 120; frame++) {
      await new Promise(requestAnimationFrame);
      act(frame);
    }
  })()`);
  return ((await read()) - before) / 120;
}

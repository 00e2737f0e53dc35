import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { openDashboard, useBrowser } from './open-dashboard.ts';
import { createAgent, startAskingFleet, startSession, untilIdle } from './small-fleet.ts';

useBrowser();

it('[Z32] what is approved runs, what is denied does not and its agent reads why; several are approved with their number', async () => {
  const { page, api, workspaceOf, complaints } = await openDashboard();
  const sessionId = await startAskingFleet(api, 5);
  await page.getByRole('link', { name: /Inbox\s*5/ }).click();
  const list = page.getByRole('option');
  await list.nth(4).waitFor();
  expect(await page.title()).toBe('(5) Fleetloom');
  expect(await page.locator('link[rel=icon]').getAttribute('href')).toBe('./favicon-needs.svg');
  const card = page.getByRole('article');
  await card.getByText('I write it down, so that it is not lost.').waitFor();
  expect(await card.locator('.card-path').textContent()).toMatch(/^lead › writer \d$/);
  expect(await card.getByText('2 threads cannot go on').count()).toBe(1);
  const nameOf = async () => /note-\d\.txt/.exec((await card.locator('.path').textContent()) ?? '')![0];
  const isWritten = (name: string) => existsSync(join(workspaceOf(sessionId), name));

  // Approved: the tool runs.
  const approved = await nameOf();
  await card.getByRole('button', { name: 'Approve once' }).click();
  await vi.waitFor(() => expect(isWritten(approved)).toBe(true), 20_000);
  await list.nth(4).waitFor({ state: 'detached' });

  // Taken back in time: nothing was sent.
  await page.keyboard.press('k');
  const kept = await nameOf();
  await page.keyboard.press('a');
  await page.keyboard.press('z');
  await page.waitForTimeout(2_000);
  expect([isWritten(kept), await list.count()]).toEqual([false, 4]);

  // Denied with a reason: the tool does not run, and the agent is told.
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  const denied = await nameOf();
  await card.getByRole('button', { name: 'Deny' }).click();
  await page.getByLabel('Reason (sent to the agent)').fill('notes are forbidden');
  await page.keyboard.press('Enter');
  await list.nth(3).waitFor({ state: 'detached' });

  // The rest together, with their number.
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  for (let index = 0; index < 3; index++) {
    await page.keyboard.press(' ');
    await page.keyboard.press('j');
  }
  await page.keyboard.press('a');
  await page.getByText('Approve the 3 chosen asks, each once?').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Nothing needs you.' }).waitFor();
  await untilIdle(api, sessionId);
  expect(isWritten(denied)).toBe(false);
  const answers = await api.events(sessionId, 'agent.message');
  expect(JSON.stringify(answers)).toContain('notes are forbidden');
  expect(await page.locator('.decided tr', { hasText: 'denied' }).count()).toBe(1);
  expect(await page.locator('.decided tr', { hasText: 'approved' }).count()).toBe(4);
  expect(await page.locator('.decided tr', { hasText: 'by first key' }).count()).toBe(5);
  expect(complaints).toEqual([]);
}, 180_000);

it('[Z32, Z47] the desktop tells of an ask, an answer that somebody else gave first is seen here, and what is grave takes more than one key', async () => {
  const { page, api, context, complaints } = await openDashboard();
  await context.addInitScript(desktop);
  await page.reload();
  await page.getByRole('button', { name: 'Notifications: off' }).click();
  await page.getByLabel(/Tell me on the desktop/).check();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Notifications: on' }).waitFor();
  const agent = await createAgent(api, 'eager', [
    [
      { say: 'I change it.' },
      { call: 'edit', input: { file_path: '../up.md', old_string: 'old\u202eline', new_string: 'new line' } },
    ],
    [{ say: 'Done.' }],
  ]);
  const sessionId = await startSession(api, agent, 'Eager');
  await expect
    .poll(() => page.evaluate('told'), { timeout: 20_000 })
    .toEqual([['eager needs you', 'eager: edit ../up.md']]);
  await page.goto(`${page.url().replace(/#.*/, '')}#/inbox`);
  const card = page.getByRole('article');
  await card.getByText('old⟦RLO⟧line').waitFor();
  expect(await card.getByRole('list', { name: 'Look twice' }).getByRole('listitem').allTextContents()).toEqual([
    '▲ outside the working directory',
    '▲ has characters that cannot be seen',
  ]);
  expect(await card.locator('[data-diff=removed]').textContent()).toContain('−old⟦RLO⟧line');
  expect(await card.locator('[data-diff=added]').textContent()).toContain('+new line');
  await page.keyboard.press('a');
  await card.getByText('Look twice: see the marks above.').waitFor();
  await page.keyboard.press('Escape');
  const data = await api.events(sessionId, 'agent.tool_use');
  await api.send(sessionId, { type: 'user.tool_confirmation', tool_use_id: data[0]!.id, result: 'deny' });
  await page.locator('.decided tr', { hasText: 'denied' }).waitFor();
  expect(complaints).toEqual([]);
}, 180_000);

it('[Z306, Z320, Z321, Z322] what was approved alike is not asked again, whichever view is open, and who decided by which rule about what is seen; what differs is asked', async () => {
  const { page, api, complaints } = await openDashboard();
  const write = (content: string) => [{ call: 'write', input: { file_path: 'a.txt', content } }];
  const agent = await createAgent(api, 'again', [write('one'), write('one'), write('two'), [{ say: 'Done.' }]]);
  const sessionId = await startSession(api, agent, 'Again');
  await page.getByRole('link', { name: /Inbox\s*1/ }).click();
  await page.getByRole('article').waitFor();
  await page.keyboard.press('A');
  await page.getByText('1 ask that wait now fits').waitFor();
  const rule = 'write(input: {"file_path":"a.txt","content":"one"})';
  expect(await page.locator('.card-actions .rule').textContent()).toBe(rule);
  await page.keyboard.press('Enter');
  await page.keyboard.press('g');
  await page.keyboard.press('f');
  await vi.waitFor(async () => expect(await api.events(sessionId, 'agent.tool_use')).toHaveLength(3), 20_000);
  await page.locator('.thread-row[data-state=needs]').waitFor();
  await expect.poll(() => page.title()).toBe('(1) Fleetloom');
  expect(await api.events(sessionId, 'user.tool_confirmation')).toHaveLength(2);
  // Who has decided is seen beside what still waits.
  await page.keyboard.press('n');
  await page.getByRole('article').waitFor();
  const decided = page.locator('.decided tr', { hasText: 'approved' });
  await expect.poll(() => decided.count()).toBe(2);
  const hash = createHash('sha256').update('{"content":"one","file_path":"a.txt"}').digest('hex');
  for (const row of await decided.all()) {
    expect(await row.textContent()).toContain(`by the rule ${rule}${hash.slice(0, 8)}by first key`);
    expect(await row.getByRole('button').getAttribute('title')).toBe(`SHA-256 of the input: ${hash}`);
  }

  // The same of one call, from the log.
  await page.keyboard.press('Enter');
  await page.getByRole('log', { name: 'Transcript' }).locator('.block[data-block=call] button').first().click();
  await page.getByRole('tab', { name: 'Tool I/O' }).click();
  const facts = page.getByRole('region', { name: 'Decision' }).locator('dd');
  await facts.last().waitFor();
  const [by, at, byRule, sha256] = await facts.allTextContents();
  expect([by, byRule, sha256]).toEqual(['first key', rule, `${hash}Copy`]);
  const [confirmed] = await api.events(sessionId, 'user.tool_confirmation');
  expect(confirmed).toMatchObject({ processed_at: at });
  // Who has found it does not read the rest of the log.
  expect(complaints.filter((one) => !one.endsWith('/export failed: net::ERR_ABORTED'))).toEqual([]);
}, 180_000);

/** A desktop that allows it, and somebody who looks elsewhere. */
const desktop = `
  globalThis.told = [];
  document.hasFocus = () => false;
  globalThis.Notification = class {
    static permission = 'granted';
    static requestPermission = async () => 'granted';
    constructor(title, { body }) {
      told.push([title, body]);
    }
    addEventListener() {}
  };
`;

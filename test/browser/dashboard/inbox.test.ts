import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { openDashboard, useBrowser } from './open-dashboard.ts';
import { createAgent, startFleetWithApprovals, startSession, untilIdle } from './small-fleet.ts';

useBrowser();

it('[Z32, Z400] an approved call runs, a denied one does not and its agent receives the reason; several are approved at once; the tab title has page and count', async () => {
  const { page, api, workspaceOf, complaints } = await openDashboard();
  const sessionId = await startFleetWithApprovals(api, 5);
  await page.getByRole('link', { name: /Inbox\s*5/ }).click();
  const list = page.getByRole('option');
  await list.nth(4).waitFor();
  expect(await page.title()).toBe('(5) Inbox · Fleetloom');
  expect(await page.locator('link[rel=icon]').getAttribute('href')).toBe('./favicon-needs.svg');
  const card = page.getByRole('article');
  await card.getByText('I write it down, so that it is not lost.').waitFor();
  expect(await card.locator('.card-path').textContent()).toMatch(/^lead › writer \d$/);
  expect(await card.getByText('2 threads blocked').count()).toBe(1);
  const nameOf = async () => /note-\d\.txt/.exec((await card.locator('.path').textContent()) ?? '')![0];
  const isWritten = (name: string) => existsSync(join(workspaceOf(sessionId), name));

  // Approved: the tool runs.
  const approved = await nameOf();
  await card.getByRole('button', { name: 'Approve once' }).click();
  await vi.waitFor(() => expect(isWritten(approved)).toBe(true), 20_000);
  await list.nth(4).waitFor({ state: 'detached' });

  // Undone in time: nothing was sent.
  await page.keyboard.press('k');
  const kept = await nameOf();
  await page.keyboard.press('a');
  await page.keyboard.press('z');
  await page.waitForTimeout(2_000);
  expect([isWritten(kept), await list.count()]).toEqual([false, 4]);

  // Denied with a reason: the tool does not run, and the agent receives the reason.
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  const denied = await nameOf();
  await card.getByRole('button', { name: 'Deny' }).click();
  await page.getByLabel('Reason (sent to the agent)').fill('notes are forbidden');
  await page.keyboard.press('Enter');
  await list.nth(3).waitFor({ state: 'detached' });

  // The rest at once, with their number.
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  for (let index = 0; index < 3; index++) {
    await page.keyboard.press(' ');
    await page.keyboard.press('j');
  }
  await page.keyboard.press('a');
  await page.getByText('Approve the 3 selected calls, each once?').waitFor();
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

it('[Z32, Z47] a pending approval is notified on the desktop, a decision of another user is shown, and a grave call takes more than one key', async () => {
  const { page, api, context, complaints } = await openDashboard();
  await context.addInitScript(desktop);
  await page.reload();
  await page.getByRole('button', { name: 'Notifications: off' }).click();
  await page.getByLabel(/Notify me on the desktop/).check();
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
    .poll(() => page.evaluate('notified'), { timeout: 20_000 })
    .toEqual([['eager needs you', 'eager: edit ../up.md']]);
  await page.goto(`${page.url().replace(/#.*/, '')}#/inbox`);
  const card = page.getByRole('article');
  await card.getByText('old⟦RLO⟧line').waitFor();
  expect(await card.getByRole('list', { name: 'Warnings' }).getByRole('listitem').allTextContents()).toEqual([
    '▲ outside the working directory',
    '▲ has characters that cannot be seen',
  ]);
  expect(await card.locator('[data-diff=removed]').textContent()).toContain('−old⟦RLO⟧line');
  expect(await card.locator('[data-diff=added]').textContent()).toContain('+new line');
  await page.keyboard.press('a');
  await card.getByText('Check the warnings above.').waitFor();
  await page.keyboard.press('Escape');
  const data = await api.events(sessionId, 'agent.tool_use');
  await api.send(sessionId, { type: 'user.tool_confirmation', tool_use_id: data[0]!.id, result: 'deny' });
  await page.locator('.decided tr', { hasText: 'denied' }).waitFor();
  expect(complaints).toEqual([]);
}, 180_000);

it('[Z306, Z320, Z321, Z322] calls that a rule covers are approved on any page, decisions show user, rule and hash, and a call that differs needs approval', async () => {
  const { page, api, complaints } = await openDashboard();
  const write = (content: string) => [{ call: 'write', input: { file_path: 'a.txt', content } }];
  const agent = await createAgent(api, 'again', [write('one'), write('one'), write('two'), [{ say: 'Done.' }]]);
  const sessionId = await startSession(api, agent, 'Again');
  await page.getByRole('link', { name: /Inbox\s*1/ }).click();
  await page.getByRole('article').waitFor();
  await page.keyboard.press('A');
  await page.getByText('1 pending request matches').waitFor();
  const rule = 'write(input: {"file_path":"a.txt","content":"one"})';
  expect(await page.locator('.card-actions .rule').textContent()).toBe(rule);
  await page.keyboard.press('Enter');
  await page.keyboard.press('g');
  await page.keyboard.press('f');
  await vi.waitFor(async () => expect(await api.events(sessionId, 'agent.tool_use')).toHaveLength(3), 20_000);
  await page.locator('.thread-row[data-state=needs]').waitFor();
  await expect.poll(() => page.title()).toBe('(1) Fleet · Fleetloom');
  expect(await api.events(sessionId, 'user.tool_confirmation')).toHaveLength(2);
  // Decisions are listed below the pending item.
  await page.keyboard.press('n');
  await page.getByRole('article').waitFor();
  const decided = page.locator('.decided tr', { hasText: 'approved' });
  await expect.poll(() => decided.count()).toBe(2);
  const hash = createHash('sha256').update('{"content":"one","file_path":"a.txt"}').digest('hex');
  for (const row of await decided.all()) {
    expect(await row.textContent()).toContain(`rule ${rule}${hash.slice(0, 8)}by first key`);
    expect(await row.getByRole('button').getAttribute('title')).toBe(`SHA-256 of the input: ${hash}`);
  }

  // The same facts of one call, from the log.
  await page.keyboard.press('Enter');
  await page.getByRole('log', { name: 'Transcript' }).locator('.block[data-block=call] button').first().click();
  await page.getByRole('tab', { name: 'Tool I/O' }).click();
  const facts = page.getByRole('region', { name: 'Decision' }).locator('dd');
  await facts.last().waitFor();
  const [by, at, byRule, sha256] = await facts.allTextContents();
  expect([by, byRule, sha256]).toEqual(['first key', rule, `${hash}Copy`]);
  const [confirmed] = await api.events(sessionId, 'user.tool_confirmation');
  expect(confirmed).toMatchObject({ processed_at: at });
  // The log is read only up to the decision.
  expect(complaints.filter((one) => !one.endsWith('/export failed: net::ERR_ABORTED'))).toEqual([]);
}, 180_000);

it('[Z410, Z411, Z412] a rule created in the card is kept and enforced by the server, listed with its decisions, and revoked', async () => {
  const { page, api, complaints } = await openDashboard();
  const runs = (command: string) => [{ call: 'bash', input: { command } }];
  const scripts = [runs('echo npm test --silent'), runs('echo npm test'), runs('echo npm test; rm -rf x')];
  const system = `<script>${JSON.stringify({ turns: [...scripts, [{ say: 'Done.' }]] })}</script>`;
  const tools = [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } }];
  const { id: agent } = await api.post('/v1/agents', { name: 'tester', model: 'scripted/test', system, tools });
  await startSession(api, agent, 'Tests');
  await page.getByRole('link', { name: /Inbox\s*1/ }).click();
  const card = page.getByRole('article');
  await card.waitFor();
  await page.keyboard.press('w');
  const form = page.getByRole('form', { name: 'Always allow' });
  const pattern = form.getByLabel(/one simple command/);
  expect(await pattern.inputValue()).toBe('echo npm*');
  await pattern.fill('echo npm; *');
  await form.getByText('is not one simple command').waitFor();
  expect(await form.getByRole('button', { name: 'Always allow' }).isDisabled()).toBe(true);
  await pattern.fill('echo npm test*');
  await form.getByText('1 pending request matches.').waitFor();
  await form.getByLabel('in every session of this agent').check();
  await form.getByRole('button', { name: 'Always allow' }).click();
  await page.getByText('1 pending request answered').waitFor();
  // The server answers this approval and the next one; the third is not one simple command.
  await card.getByText('rm -rf x').waitFor();
  const decided = page.getByRole('region', { name: 'Recent decisions' }).locator('tr');
  await expect.poll(() => decided.count()).toBe(2);
  for (const row of await decided.all()) {
    expect(await row.textContent()).toContain('by the server, rule bash(command: echo npm test*)');
    expect(await row.textContent()).toContain('by first key');
  }
  await page.keyboard.press('w');
  await page.getByText('No rule can allow calls like this one').waitFor();
  await page.keyboard.press('Escape');
  await card.getByRole('button', { name: 'Deny' }).click();
  await page.keyboard.press('Enter');
  await card.waitFor({ state: 'detached' });
  // It is on the server: another page load shows it.
  await page.reload();
  const rules = page.getByRole('region', { name: 'Approval rules' });
  expect(await rules.locator('tr').textContent()).toContain(
    'bash(command: echo npm test*)tester in every session of testerby first key',
  );
  await rules.getByRole('button', { name: 'Revoke bash(command: echo npm test*)' }).click();
  await rules.waitFor({ state: 'detached' });
  await startSession(api, agent, 'Again');
  await card.getByText('echo npm test --silent').waitFor();
  // Only the pattern that cannot be a rule was refused.
  expect(complaints).toEqual([expect.stringContaining('400 (Bad Request)')]);
}, 180_000);

/** A desktop that allows notifications, and a page without focus. */
const desktop = `
  globalThis.notified = [];
  document.hasFocus = () => false;
  globalThis.Notification = class {
    static permission = 'granted';
    static requestPermission = async () => 'granted';
    constructor(title, { body }) {
      notified.push([title, body]);
    }
    addEventListener() {}
  };
`;

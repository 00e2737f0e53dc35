import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FleetSessionList } from '@fleetloom/protocol/fleet';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { openBrowser } from '../../support/chromium.ts';
import { type Api, createApi } from './api.ts';
import { beyond, violations } from './page-faults.ts';
import { createAgent, startSession, untilIdle } from './small-fleet.ts';
import { startServerProcess } from './started-server.ts';

const SESSIONS = 100;
const patience = { timeout: 30_000, interval: 100 };
/** Where the screenshots of the script are written; they are not made without it. */
const SHOTS = process.env['FLEETLOOM_SHOTS'];

it('[Y431, Z229, Z450, Z451, Z520, Z528, Z602, Z603] the script of the review: first minute on the demo, approve and see the result, a rule for `npm test*` and nothing else, 100 sessions, find one by a word, kill and restart the server, answer from a phone; every page fits and passes axe', async () => {
  const data = mkdtempSync(join(tmpdir(), 'fleetloom-review-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true, maxRetries: 5 }));
  const browser = await openBrowser();
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 }, reducedMotion: 'reduce' });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);

  // The first minute: the printed link shows 25 agents at work, also after a reload.
  const server = await startServerProcess(data, '--demo', '25', '--port', '0');
  const api = createApi(server.url, server.key);
  await page.goto(server.link);
  const rows = page.locator('.thread-row');
  await rows.nth(24).waitFor();
  // Each has a task of its own.
  const tasks = await page.locator('.thread-row [data-column=task]').allTextContents();
  expect(new Set(tasks).size).toBe(25);
  const line = page.getByRole('complementary', { name: 'About the demo' });
  await line.getByText('They need no key, and their costs are examples').waitFor();
  await page.locator('.counts button', { hasText: '2 need you' }).waitFor();
  await page.locator('.figures', { hasText: 'example cost' }).waitFor();
  // The picture is best when many write; on a slow machine there may never be ten at the same time.
  const many = page.locator('.thread-row[data-state=writing]').nth(9);
  if (SHOTS !== undefined) await many.waitFor({ timeout: 10_000 }).catch(() => {});
  await shoot(page, 'first-minute');
  await page.reload();
  await rows.nth(24).waitFor();

  // One click leads to the approval. Approve the edit, and see what came out of it.
  await line.getByRole('button', { name: 'Look and decide' }).click();
  const edit = page.locator('.inbox-list li', { hasText: 'retry.js' });
  await edit.click();
  await page.getByRole('article').getByText('attempts - 1').waitFor();
  await shoot(page, 'approval');
  await page.getByRole('button', { name: /^Approve once/ }).click();
  await edit.waitFor({ state: 'detached' });
  const [demo] = (await readSessions(api, '?limit=1')).data;
  await page.goto(`${server.url}/#/session/${demo!.id}?tab=changes`);
  for (const again of [false, true]) {
    if (again) await page.reload();
    await page
      .getByRole('group', { name: 'Files of the session' })
      .getByRole('button', { name: /retry\.js/ })
      .click();
    const diff = page.getByRole('group', { name: 'Diff', exact: true });
    await diff.locator('[data-diff=added]', { hasText: 'attempts - 1' }).waitFor();
  }
  await shoot(page, 'result');

  // The agent asks to run the tests: allowed by a rule from now on. What came out is on top of the session.
  await page.goto(`${server.url}/#/inbox`);
  await page.locator('.inbox-list li', { hasText: 'fixer' }).click();
  await page.getByRole('article').getByText('npm test').waitFor();
  await page.keyboard.press('w');
  const form = page.getByRole('form', { name: 'Always allow' });
  await form.getByLabel(/one simple command/).fill('npm test*');
  await form.getByText('1 pending request matches.').waitFor();
  await shoot(page, 'rule');
  await form.getByRole('button', { name: 'Always allow' }).click();
  await page.goto(`${server.url}/#/session/${demo!.id}`);
  const fixer = page.getByRole('navigation', { name: 'Threads of this session' }).getByRole('link', { name: /fixer/ });
  await fixer.click();
  const result = page.getByRole('region', { name: 'Brief' }).getByText(/Result Fixed/);
  await result.waitFor();
  await page.locator('.thread-facts', { hasText: 'e.g. $0.' }).waitFor();
  await page.reload();
  await result.waitFor();
  await page.goto(`${server.url}/#/costs`);
  await page.locator('.totals', { hasText: 'Example cost' }).waitFor();
  await page.getByRole('region', { name: 'Models' }).getByText('e.g. $0.').waitFor();
  await tryRules(api);

  // A hundred sessions; one is found by a word of its title.
  const found = await addSessions(api, SESSIONS - 2);
  await page.goto(`${server.url}/#/sessions`);
  for (const again of [false, true]) {
    if (again) await page.reload();
    await page.getByText(`${SESSIONS} sessions`).waitFor();
  }
  // Of the newest session there is nothing to say about the demo any more.
  await line.waitFor({ state: 'detached' });
  await shoot(page, 'sessions');
  await page.keyboard.press('/');
  await page.keyboard.type('zebra');
  const lines = page.locator('.session-line');
  await expect.poll(() => lines.count(), patience).toBe(1);
  await page.reload();
  await expect.poll(() => lines.count(), patience).toBe(1);
  await lines.getByRole('link', { name: 'Paint the zebra crossing' }).click();
  const transcript = page.getByRole('log', { name: 'Transcript' });
  await transcript.getByText('It is striped now.').waitFor();
  expect(page.url()).toContain(found);

  // The server is killed and started again: the page says so, and loses nothing.
  const before = (await readSessions(api)).facets.states;
  await server.kill();
  const link = page.locator('.link');
  await expect.poll(() => link.getAttribute('data-link'), patience).toBe('reconnecting');
  await shoot(page, 'disconnected');
  await startServerProcess(data, '--no-demo', '--port', String(server.port));
  await expect.poll(() => link.getAttribute('data-link'), patience).toBe('live');
  await page.reload();
  await transcript.getByText('It is striped now.').waitFor();
  const { states } = (await readSessions(api)).facets;
  expect([states.done, states.idle]).toEqual([before.done, before.idle]);
  const counts = page.getByRole('list', { name: 'Sessions by state' });
  await expect.poll(() => counts.innerText(), patience).toContain(`${states.needs_you} needs you`);

  // The answer comes from a phone.
  const asking = await startSession(api, await createAgent(api, 'noter', toNote), 'A note from the phone');
  const phoneContext = await browser.newContext({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    reducedMotion: 'reduce',
    storageState: await context.storageState(),
  });
  onTestFinished(() => phoneContext.close());
  const phone = await phoneContext.newPage();
  phone.setDefaultTimeout(30_000);
  await phone.goto(`${server.url}/#/inbox`);
  const card = phone.locator('.inbox-list li', { hasText: 'phone.txt' });
  // The demo still asks too, so each item names its session.
  await card.getByText('A note from the phone').waitFor();
  await card.tap();
  await shoot(phone, 'phone-approval');
  await phone.reload();
  await card.tap();
  const approve = phone.getByRole('button', { name: /^Approve once/ });
  expect((await approve.boundingBox())!.height).toBeGreaterThanOrEqual(44);
  expect(await approve.locator('kbd').isVisible()).toBe(false);
  await approve.tap();
  await card.waitFor({ state: 'detached' });
  await phone.goto(`${server.url}/#/sessions?q=phone`);
  await phone.locator('.session-line', { hasText: 'done' }).waitFor();
  const box = (await phone.locator('.session-line').boundingBox())!;
  expect(box.height).toBeGreaterThanOrEqual(80);
  for (const each of await phone.getByRole('navigation', { name: 'Pages' }).getByRole('link').all())
    expect((await each.boundingBox())!.height).toBeGreaterThanOrEqual(44);
  await phone.touchscreen.tap(box.x + 250, box.y + 75);
  await phone.getByRole('log', { name: 'Transcript' }).getByText('The note is written.').waitFor();
  await shoot(phone, 'phone-session');
  expect(new URL(phone.url()).hash).toContain(`#/session/${asking}`);
  await phoneContext.close();

  await checkPages(page, server.url, found);
}, 400_000);

/** Every page at three widths in both themes: nothing that axe finds, and nothing beyond the edge. */
async function checkPages(page: Page, url: string, sessionId: string): Promise<void> {
  // Each with something that it has only once it is loaded.
  const views = [
    ['sessions', '.session-line'],
    ['fleet', '.thread-row'],
    ['inbox', 'article'],
    [`session/${sessionId}`, '[role=log]'],
    ['agents', '.policy-list'],
    ['agents/new', '.member'],
    ['costs', '.totals'],
    ['settings', '.findings'],
  ] as const;
  for (const [view, loaded] of views) {
    await page.goto(`${url}/#/${view}`);
    await page.locator(loaded).first().waitFor();
    // The toolbar of selected sessions is part of the page.
    if (view === 'sessions') await page.locator('.session-line').nth(2).getByRole('checkbox').check();
    for (const width of [1_440, 1_024, 390]) {
      await page.setViewportSize({ width, height: 844 });
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        // The light theme differs in colours only.
        const found = await violations(page, colorScheme === 'light');
        expect([view, width, colorScheme, found]).toEqual([view, width, colorScheme, []]);
      }
      expect([view, width, await page.evaluate(beyond)]).toEqual([view, width, []]);
    }
    await page.setViewportSize({ width: 1_440, height: 900 });
    await shoot(page, `page-${view.replace(/\/sesn.*/, '').replace('/', '-')}`);
  }
}

/** Calls that a rule about `npm test*` or `src/*` allows, and what only looks like them. */
const rightCalls = [
  { call: 'bash', input: { command: 'npm test --silent' } },
  { call: 'write', input: { file_path: 'src/a.txt', content: 'a' } },
];
const trickyCalls = [
  ...[
    'npm test; touch owned',
    'npm test && touch owned',
    'npm test\ntouch owned',
    'npm test $(touch owned)',
    'npm test `touch owned`',
    'npm test > ../owned',
    'npm test ../../owned',
    'npm test /etc/passwd',
    'npm test --prefix=/etc',
    'npm \u0442est',
    'npm\u00a0test',
    'A=b npm test',
    'env A=b npm test',
    'npm test # touch owned',
    'npm test <<EOF\nowned\nEOF',
  ].map((command) => ({ call: 'bash', input: { command } })),
  ...[
    'src/../owned',
    '../src/owned',
    '/src/owned',
    'src/deep/owned',
    'src\\owned',
    's\u0433c/owned',
    'SRC/owned',
    'src/e\u0301',
    'src/\u00e9',
  ].map((path) => ({ call: 'write', input: { file_path: path, content: 'owned' } })),
];

/** An agent with rules for `npm test*` and `src/*`: what they do not mean exactly waits for a person. */
async function tryRules(api: Api): Promise<void> {
  const system = `<script>${JSON.stringify({ turns: [[...trickyCalls, ...rightCalls], [{ say: 'Over.' }]] })}</script>`;
  const tools = [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } }];
  const { id: agent } = await api.post('/v1/agents', { name: 'trickster', model: 'scripted/test', system, tools });
  const scope = { type: 'agent', agent_id: agent };
  const rules = [
    { tool: 'bash', match: { type: 'command', pattern: 'npm test*' } },
    { tool: 'write', match: { type: 'path', pattern: 'src/*' } },
  ];
  for (const rule of rules) await api.post('/v1/fleet/approval_rules', { scope, ...rule });
  const session = await startSession(api, agent, 'Tricks');
  const calls = async () => await api.events<{ id: string; input: object }>(session, 'agent.tool_use');
  const decided = async () => {
    const answers = await api.events<{ tool_use_id: string }>(session, 'user.tool_confirmation');
    const ids = new Set(answers.map(({ tool_use_id: id }) => id));
    return (await calls()).filter(({ id }) => ids.has(id)).map(({ input }) => input);
  };
  const inputs = (all: typeof rightCalls) => all.map(({ input }) => input);
  await expect.poll(decided, patience).toEqual(inputs(rightCalls));
  // The rules have decided about all of them by now, in the order of the calls.
  expect((await calls()).length).toBe(trickyCalls.length + rightCalls.length);
  for (const { id } of (await calls()).slice(0, trickyCalls.length))
    await api.send(session, { type: 'user.tool_confirmation', tool_use_id: id, result: 'deny' });
  await untilIdle(api, session);
}

const toNote = [
  [{ call: 'write', input: { file_path: 'phone.txt', content: 'from the phone\n' } }],
  [{ say: 'The note is written.' }],
];

/** Sessions of which one ran, whose id is returned; the others never ran. */
async function addSessions(api: Api, count: number): Promise<string> {
  const painter = await createAgent(api, 'painter', [[{ say: 'It is striped now.' }]]);
  const found = await startSession(api, painter, 'Paint the zebra crossing');
  const { id: environmentId } = await api.post('/v1/environments', { name: 'many' });
  const add = (number: number) =>
    api.post('/v1/sessions', { agent: painter, environment_id: environmentId, title: `Task ${number}` });
  for (let number = 1; number < count; number += 14)
    await Promise.all(Array.from({ length: Math.min(14, count - number) }, (_, index) => add(number + index)));
  return found;
}

function readSessions(api: Api, query = ''): Promise<FleetSessionList> {
  return api.get(`/v1/fleet/sessions${query}`);
}

/** Both themes. */
async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS === undefined) return;
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(SHOTS, `${name}-${colorScheme}.png`) });
  }
}

import { expect, it } from 'vitest';
import { openDashboard, useBrowser } from './open-dashboard.ts';
import { beyond, violations } from './page-faults.ts';
import { scrollTo } from './scroll-to.ts';
import { createAgent, startFleetWithApprovals, startSession, untilIdle } from './small-fleet.ts';

useBrowser();

const attack = [
  '<script>document.title = "owned"</script><img src=x onerror="document.title=1"><svg onload=alert(1)>',
  '[click](javascript:document.title=2) [data](data:text/html,<script>1</script>) <a href="javascript:1">raw</a> [ok](https://example.com/?a=1)',
  '![pixel](https://evil.example/pixel.png) <iframe src="https://evil.example"></iframe><style>*{display:none}</style>',
  'right \u202eto left\u202c and \u2066isolated\u2069, zero\u200bwidth',
  'by name &#x202e;turned&#8238; &rlm;&ZeroWidthSpace;hidden&shy; [titled](https://example.com/?t=1 "&#x202e;")',
  'entity &#x202e;reversed &#8203;hidden &rlm; [&#x202e;gpj](https://example.com/?b=&#x202e;2)',
  '`<b>code</b>` <form action="https://evil.example"><button>go</button></form><base href="https://evil.example/">',
].join('\n\n');

it('[Z37, Z343, W95] a hostile transcript has no effect: no script, no request, links to the web only, nothing hidden; 10 MB are shown', async () => {
  const { page, api, complaints } = await openDashboard();
  const agent = await createAgent(api, attack.slice(0, 40), [
    [{ think: attack }, { say: attack }, { call: 'grep', input: { pattern: `\u202e${attack}`, path: 'src' } }],
    [{ say: 'Yes.' }],
    [{ say: 'I have read it.' }],
  ]);
  const sessionId = await startSession(api, agent, attack.slice(0, 200));
  await untilIdle(api, sessionId);
  const line = `one line ${'x'.repeat(10 * 1_024 * 1_024)}`;
  await api.send(sessionId, { type: 'user.message', content: [{ type: 'text', text: line }] });
  await untilIdle(api, sessionId);
  const rows = page.locator('.thread-row');
  await rows.first().waitFor();
  await rows.first().locator('a').click();
  const transcript = page.getByRole('log', { name: 'Transcript' });
  await transcript.getByRole('button', { name: /show all 10\.0 MB/ }).waitFor();
  const text = transcript.locator('.block[data-block=text]').filter({ hasText: 'document.title' });
  await scrollTo(page, transcript, text.locator('.markdown'), -1e8);
  expect(await text.textContent()).toContain('<script>document.title = "owned"</script>');
  expect(await text.textContent()).toContain('right ⟦RLO⟧to left⟦PDF⟧ and ⟦LRI⟧isolated⟦PDI⟧, zero⟦ZWSP⟧width');
  expect(await text.locator('a').evaluateAll((links) => links.map((link) => link.getAttribute('href')))).toEqual([
    'https://example.com/?a=1',
    'https://example.com/?t=1',
    expect.not.stringContaining('\u202e'),
  ]);
  expect(await text.textContent()).toContain('entity ⟦RLO⟧reversed ⟦ZWSP⟧hidden ⟦RLM⟧ ⟦RLO⟧gpj');
  expect(await text.textContent()).toContain('by name ⟦RLO⟧turned⟦RLO⟧ ⟦RLM⟧⟦ZWSP⟧hidden⟦U+00AD⟧ titled');
  expect(await text.locator('.markdown').innerHTML()).not.toMatch(/[\u202e\u200f\u200b\u00ad]/);
  expect(await text.locator('script, img, svg, iframe, style, form, base, [onerror], [onload], [style]').count()).toBe(
    0,
  );
  await transcript.locator('.block[data-block=call] button').click();
  const thinking = transcript.locator('.block[data-block=thinking] button');
  await scrollTo(page, transcript, thinking, -1e8);
  await thinking.click();
  await transcript.locator('.thoughts').waitFor();

  // The whole text, on request.
  const all = transcript.getByRole('button', { name: /show all 10\.0 MB/ });
  await scrollTo(page, transcript, all, 1e8);
  await all.click();
  await page.waitForFunction('document.querySelectorAll(".piece").length > 600');
  for (const view of ['sessions', 'fleet', 'inbox', 'agents']) {
    await page.evaluate(`location.hash = '#/${view}'`);
    await page.waitForTimeout(300);
  }
  expect(await page.title()).toBe('Agents · Fleetloom');
  expect(complaints).toEqual([]);
}, 180_000);

it('[Z38, Z312] every page, light and dark, has no violation that axe finds, no motion, and fits a small screen', async () => {
  const { page, api, complaints } = await openDashboard();
  await page.getByRole('heading', { name: 'No agents yet' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await startFleetWithApprovals(api, 3);
  await page.locator('.thread-row[data-state=needs]').nth(2).waitFor();
  const views = [
    async () => {},
    async () => page.keyboard.press('?'),
    async () => {
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+k');
    },
    async () => {
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: /Inbox/ }).click();
      await page.getByRole('article').waitFor();
    },
    async () => {
      await page.getByRole('link', { name: 'Session', exact: true }).click();
      await page.getByRole('log').waitFor();
      await page.keyboard.press('[');
      await page.getByText(/^REPLAY/).waitFor();
    },
    async () => {
      await page.keyboard.press('.');
      await page.keyboard.press('/');
      await page.keyboard.type('write');
      await page.getByRole('option').first().waitFor();
    },
    async () => {
      await page.keyboard.press('Escape');
      await page.keyboard.press('C');
      await page.getByText('difference').waitFor();
    },
    async () => {
      await page.keyboard.press('|');
      await page.getByRole('button', { name: /^Notifications/ }).click();
      await page.getByLabel(/Notify me on the desktop/).waitFor();
    },
    async () => {
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'Agents' }).click();
      await page.getByLabel('Start a session with').waitFor();
    },
    async () => {
      await page.getByRole('link', { name: 'Sessions', exact: true }).click();
      await page.locator('.session-line').first().getByRole('checkbox').check();
    },
    async () => {
      await page.keyboard.press('c');
      await page.getByRole('dialog').getByLabel('First message').waitFor();
    },
    async () => {
      await page.keyboard.press('Escape');
      await page.getByRole('toolbar').getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('dialog').waitFor();
    },
    async () => {
      await page.keyboard.press('Escape');
      await page.evaluate(`location.hash = '#/nonsense'`);
      await page.getByRole('heading', { name: 'There is no page' }).waitFor();
    },
  ];
  for (const go of views) {
    await go();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect([page.url(), 'dark', await violations(page)]).toEqual([page.url(), 'dark', []]);
    // The light theme differs in colours only.
    await page.emulateMedia({ colorScheme: 'light' });
    expect([page.url(), 'light', await violations(page, true)]).toEqual([page.url(), 'light', []]);
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    for (const width of [1_024, 420]) {
      await page.setViewportSize({ width, height: 700 });
      expect([page.url(), width, await page.evaluate(beyond)]).toEqual([page.url(), width, []]);
    }
    await page.setViewportSize({ width: 1_440, height: 900 });
  }
  expect(complaints).toEqual([]);
}, 180_000);

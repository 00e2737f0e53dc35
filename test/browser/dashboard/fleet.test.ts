import { fleetLimits } from '@fleetloom/protocol/fleet';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { serve } from '../../support/http-server.ts';
import { openDashboard, useBrowser } from './open-dashboard.ts';
import { createAgent, startSession, startWritingFleet, untilIdle } from './small-fleet.ts';

useBrowser();

const patience = { timeout: 30_000, interval: 100 };

it('[Z330, Z332, Z333] the header shows the limit of concurrent requests, and a stalled row and its card show whether the process is alive and the connection open', async () => {
  // A model that never responds, and a program that prints one line only.
  const model = await serve((request) => void request.resume());
  onTestFinished(() => model.close());
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-silent-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, 'claude');
  const line = JSON.stringify({ type: 'system', subtype: 'init', session_id: 's1' });
  const version = `if [ "$1" = --version ]; then echo '2.1.325 (Claude Code)'; exit 0; fi`;
  writeFileSync(program, `#!/bin/sh\n${version}\necho '${line}'\nexec sleep 600\n`);
  chmodSync(program, 0o700);
  const { page, api, server, complaints } = await openDashboard({
    isSignedIn: false,
    models: { credential: { apiKey: 'none' }, baseURL: model.origin },
    claudeCode: { program, workspaces: ['wrkspc_default'], isUnsandboxed: true },
  });
  // The page takes the time from responses: a server clock that is ahead makes time pass.
  let aheadMs = 0;
  await page.route('**/v1/**', async (route) => {
    const response = await route.fetch();
    const date = new Date(Date.now() + aheadMs).toUTCString();
    await route.fulfill({ response, headers: { ...response.headers(), date } });
  });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`${await server.dashboardUrl()}&page=fleet`);
  const start = async (name: string, model: string) => {
    const agent = await api.post('/v1/agents', { name, model });
    return startSession(api, agent.id, name);
  };
  const unanswered = await start('asker', 'some-model');
  const silent = await start('coder', 'claude-code/default');
  const figure = page.locator('[data-figure=requests] dd');
  await expect.poll(() => figure.textContent(), patience).toBe('1/32');
  const doing = (agent: string) =>
    page.locator('.thread-row', { hasText: agent }).locator('[data-column=doing]').textContent();
  await expect.poll(() => doing('coder'), patience).toBeTypeOf('string');
  expect(asked.filter((path) => path.endsWith('/health'))).toEqual([]);

  aheadMs = fleetLimits.stalledMs + 1_000;
  await page.locator('.counts button', { hasText: '2 stalled' }).waitFor();
  await expect.poll(() => doing('asker'), patience).toMatch(/^no response, sent .* ago · no event for /);
  await expect.poll(() => doing('coder'), patience).toMatch(/^pid \d+ alive, last byte .* ago · no event for /);
  expect(new Set(asked.filter((path) => path.endsWith('/health')))).toEqual(
    new Set([unanswered, silent].map((id) => `/v1/sessions/${id}/health`)),
  );
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  const card = page.getByRole('option', { name: /coder/ });
  await card.click();
  const words = page.locator('.card .fault');
  await expect.poll(() => words.textContent(), patience).toMatch(/^pid \d+ alive/);

  // An ended process is reported as such, not as silence.
  const pid = Number(/pid (\d+)/.exec((await words.textContent())!)![1]);
  process.kill(pid, 'SIGKILL');
  await page.keyboard.press('g');
  await page.keyboard.press('f');
  // A session that failed is collapsed below the stalled one. A filter shows its rows.
  await page.keyboard.press('/');
  await page.keyboard.type('coder');
  await expect.poll(() => doing('coder'), patience).toContain('SIGKILL');
  expect(complaints).toEqual([]);
}, 120_000);

it('[Z312, Z334, Z335, Z336, Z337, Z338] the wheel zooms the lanes, a drag moves them, End follows, a click opens the thread at that time, a count in the header filters, and the pill counts new blocks', async () => {
  const { page, api, complaints } = await openDashboard();
  const sessionId = await startWritingFleet(api, 2, 40, 100);
  await untilIdle(api, sessionId);
  const rows = page.locator('.thread-row');
  await page.locator('.counts button', { hasText: '3 done' }).waitFor();
  const lane = (await page.locator('.axis').boundingBox())!;
  const row = (await rows.nth(1).boundingBox())!;
  const middle = { x: lane.x + lane.width / 2, y: row.y + row.height / 2 };
  const wheel = async (deltaY: number) => {
    await page.mouse.move(middle.x, middle.y);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, deltaY);
    await page.keyboard.up('Control');
  };

  // Around the pointer. The first wheel event stops the lanes from following.
  await page.getByRole('button', { name: '5m', pressed: true }).waitFor();
  await wheel(-100);
  await page.getByRole('button', { name: '5m', pressed: false }).waitFor();
  const before = await readAxis(page);
  await wheel(-100);
  await expect.poll(async () => (await readAxis(page)).length / before.length, patience).toBeCloseTo(0.8, 1);
  const near = await readAxis(page);
  expect(Math.abs(middleOf(near) - middleOf(before))).toBeLessThan(0.3);

  // Dragging right shows earlier times, by the distance of the pointer.
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.down();
  await page.mouse.move(middle.x + lane.width / 4, middle.y, { steps: 4 });
  await page.mouse.up();
  const moved = async () => (near.from - (await readAxis(page)).from) / near.length;
  await expect.poll(moved, patience).toBeCloseTo(0.25, 1);
  const still = await readAxis(page);
  await page.keyboard.press('End');
  await expect.poll(async () => (await readAxis(page)).to, patience).toBeGreaterThan(still.to + 0.5);

  // A count is a filter; a second click removes it.
  const done = page.locator('.counts button', { hasText: 'done' });
  await page.locator('.counts button', { hasText: 'failed' }).click();
  await page.getByText('No thread matches the filter.').waitFor();
  await done.click();
  await expect.poll(() => rows.count(), patience).toBe(3);
  expect(await done.getAttribute('aria-pressed')).toBe('true');
  await done.click();
  expect(await done.getAttribute('aria-pressed')).toBe('false');

  // A click in a lane opens that thread at that time.
  await page.getByRole('button', { name: 'all', exact: true }).click();
  await page.getByRole('button', { name: 'all', exact: true, pressed: true }).waitFor();
  const { created_at: created } = await api.get<{ created_at: string }>(`/v1/sessions/${sessionId}`);
  const wanted = secondsOf(new Date(created).toTimeString()) + 2;
  const whole = await readAxis(page);
  await page.mouse.click(lane.x + (lane.width * (wanted - whole.from)) / whole.length, middle.y);
  const bar = page.locator('.replay-bar b');
  await bar.waitFor();
  // The clock shows whole seconds, and the lanes move during the click.
  expect(Math.abs(secondsOf((await bar.textContent())!) - wanted)).toBeLessThan(2);
  const href = await page.evaluate<string>('location.hash');
  expect(href).toMatch(new RegExp(`^#/session/${sessionId}/sthr_`));
  await page.getByRole('button', { name: /back to live/ }).click();

  // After scrolling up the transcript stays, and the pill counts new blocks; a click on it leads to the end.
  const long = Array.from({ length: 200 }, (_, index) => `Line ${index}.`).join('\n\n');
  const speaker = await createAgent(api, 'speaker', [[{ say: long }], [{ say: 'The last word.' }]]);
  const talk = await startSession(api, speaker, 'Speech');
  await untilIdle(api, talk);
  await page.evaluate(`location.hash = '#/session/${talk}'`);
  const transcript = page.getByRole('log', { name: 'Transcript' });
  await transcript.getByText('Line 199.').waitFor();
  await transcript.hover();
  await page.mouse.wheel(0, -2_000);
  const above = () => transcript.evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop);
  await expect.poll(above, patience).toBeGreaterThan(1_000);
  const top = await transcript.evaluate((list) => list.scrollTop);
  await api.send(talk, { type: 'user.message', content: [{ type: 'text', text: 'And then?' }] });
  const pill = page.getByRole('button', { name: /▼ \d+ new block/ });
  await expect.poll(() => pill.textContent(), patience).toMatch(/▼ [23] new blocks/);
  expect(await transcript.evaluate((list) => list.scrollTop)).toBe(top);
  await pill.click();
  await expect.poll(above, patience).toBeLessThan(50);
  await transcript.getByText('The last word.').waitFor();
  await pill.waitFor({ state: 'detached' });

  // On a small screen every action on a thread that needs approval is reachable, however long its name.
  const asker = await createAgent(api, 'a-writer-with-a-long-name', [
    [{ call: 'write', input: { file_path: 'a', content: 'b' } }],
  ]);
  const asking = await startSession(api, asker, 'Asks');
  await page.evaluate(`location.hash = '#/session/${asking}'`);
  await page.getByRole('button', { name: /^Answer/ }).waitFor();
  await page.setViewportSize({ width: 420, height: 700 });
  const ends = page
    .locator('.thread-actions button')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right));
  expect(await ends).toHaveLength(4);
  for (const right of await ends) expect(right).toBeLessThanOrEqual(420);
  expect(complaints).toEqual([]);
}, 120_000);

interface Axis {
  /** In seconds of the day, as on the axis. */
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

/** The time range of the lanes, computed from two times on the axis and their positions. */
async function readAxis(page: Page): Promise<Axis> {
  const labels = await page.locator('.axis span').evaluateAll((spans) =>
    spans.map((span) => {
      // The axis contains only these elements.
      const { left } = (span as unknown as { style: { left: string } }).style;
      return { share: parseFloat(left) / 100, text: span.textContent ?? '' };
    }),
  );
  const [first, last] = [labels[0]!, labels.at(-1)!];
  const length = (secondsOf(last.text) - secondsOf(first.text)) / (last.share - first.share);
  const from = secondsOf(first.text) - first.share * length;
  return { from, to: from + length, length };
}

/** Seconds of the day. */
function secondsOf(text: string): number {
  const [hours, minutes, seconds] = /(\d+):(\d+):(\d+)/.exec(text)!.slice(1).map(Number);
  return hours! * 3_600 + minutes! * 60 + seconds!;
}

function middleOf({ from, length }: Axis): number {
  return from + length / 2;
}

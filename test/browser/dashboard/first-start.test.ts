import { expect, it } from 'vitest';
import { tableLimits } from '../../../packages/web/src/fleet/limits.ts';
import { uiLimits } from '../../../packages/web/src/ui/limits.ts';
import { openDashboard, useBrowser } from './open-dashboard.ts';

useBrowser();

it('[Z27, Z30, Z31, Z301] a new user signs in with the key, starts 25 agents, watches them live, reloads during the run and loses nothing', async () => {
  const { page, server, key, api, complaints, context } = await openDashboard({ isSignedIn: false });
  await context.addInitScript(countDrawing);
  await page.goto(server.url);
  await page.getByLabel('Key').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('not known to the server').waitFor();
  await page.getByLabel('Key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'No agents yet' }).waitFor();
  expect(await page.content()).not.toContain(key);
  expect(await page.evaluate('Object.values(localStorage).join() + document.cookie + location.href')).not.toContain(
    'fleetloom_',
  );

  await page.getByRole('button', { name: 'Start the 25-agent demo' }).click();
  const rows = page.locator('.thread-row');
  await rows.nth(24).waitFor();
  expect(await rows.count()).toBe(25);
  // All rows fit on a laptop screen, below the header.
  const last = await rows.nth(24).boundingBox();
  expect(last!.y + last!.height).toBeLessThanOrEqual(750);
  await page.getByText(/live · seq/).waitFor();

  // During the run.
  await page.reload();
  await rows.nth(24).waitFor();
  await page.locator('.counts button', { hasText: '2 need you' }).waitFor();
  expect(await page.locator('.link').textContent()).toContain('0 gaps');

  // The page shows what the server has: the threads, and their tokens up to now.
  const [session] = await api.list<{ id: string }>('/v1/sessions');
  const threads = await api.list<{ agent: { name: string } }>(`/v1/sessions/${session!.id}/threads`);
  const names = await rows.locator('[data-column=agent] a').allTextContents();
  const expected = threads.map(({ agent }) => agent.name).toSorted((a, b) => a.localeCompare(b));
  expect(names.map((name) => name.replace(/\d+$/, '')).toSorted((a, b) => a.localeCompare(b))).toEqual(expected);

  // A pixel of the lanes is painted: a canvas has no other content to check.
  const painted = await page.evaluate(`(() => {
    const canvas = document.querySelector('.lanes-anchor canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value) => value !== 0);
  })()`);
  expect(painted).toBe(true);
  // A range selected above the lanes shows its totals; the whole range has everything.
  const axis = (await page.locator('.axis').boundingBox())!;
  await page.keyboard.down('Shift');
  await page.mouse.move(axis.x + 1, axis.y + 8);
  await page.mouse.down();
  await page.mouse.move(axis.x + axis.width - 1, axis.y + 8, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  const totals = page.locator('.window-totals');
  expect(await totals.textContent()).toMatch(
    /[1-9][\d.]*k? tokens · [1-9]\d* requests?[1-9]\d* tool calls? · \d+ failure/,
  );
  await totals.getByRole('button', { name: 'close', includeHidden: true }).click();
  await totals.waitFor({ state: 'detached' });
  // At any load the header renders twice and the lanes are painted about 30 times per second.
  const { intervals, perSecond } = await page.evaluate<{ intervals: number[]; perSecond: number }>(`(async () => {
    const [from, start] = [painted, performance.now()];
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return { intervals, perSecond: ((painted - from) * 1_000) / (performance.now() - start) };
  })()`);
  expect(intervals).toContain(uiLimits.headerMs);
  expect(perSecond).toBeGreaterThan(0);
  // Frames come every 16.7 ms, so a paint may be a few milliseconds early.
  expect(perSecond).toBeLessThanOrEqual(1_000 / (tableLimits.lanesMs - 4) + 1);
  expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
}, 180_000);

/** Records the intervals that the page sets, and how often its lanes are painted. */
const countDrawing = `
  globalThis.intervals = [];
  globalThis.painted = 0;
  const { setInterval: wake } = globalThis;
  globalThis.setInterval = (run, ms, ...rest) => {
    intervals.push(ms);
    return wake(run, ms, ...rest);
  };
  const { clearRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...place) {
    if (place[0] === 0 && place[1] === 0 && this.canvas.closest('.lanes-anchor') !== null) painted += 1;
    return clearRect.apply(this, place);
  };
`;

import { expect, it } from 'vitest';
import { openDashboard, useBrowser } from './open-dashboard.ts';

useBrowser();

it('[Z30, Z31] a newcomer signs in with the key, starts 25 agents, watches them live, reloads in the middle and loses nothing', async () => {
  const { page, server, key, api, complaints } = await openDashboard({ isSignedIn: false });
  await page.goto(server.url);
  await page.getByLabel('Key').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('not known here').waitFor();
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
  // All of them fit on the screen of a laptop.
  const last = await rows.nth(24).boundingBox();
  expect(last!.y + last!.height).toBeLessThan(780);
  await page.getByText(/live · seq/).waitFor();

  // In the middle of the run.
  await page.reload();
  await rows.nth(24).waitFor();
  await page.locator('.counts button', { hasText: '6 need you' }).waitFor();
  await page.locator('.thread-row[data-state=error]').nth(2).waitFor();
  expect(await page.locator('.link').textContent()).toContain('0 gaps');

  // What is on the screen is what the server says: the threads, and their tokens up to now.
  const [session] = await api.list<{ id: string }>('/v1/sessions');
  const threads = await api.list<{ agent: { name: string } }>(`/v1/sessions/${session!.id}/threads`);
  const names = await rows.locator('[data-column=agent] a').allTextContents();
  const expected = threads.map(({ agent }) => agent.name).toSorted((a, b) => a.localeCompare(b));
  expect(names.map((name) => name.replace(/\d+$/, '')).toSorted((a, b) => a.localeCompare(b))).toEqual(expected);

  // A pixel of the lanes is painted: they are a canvas, and nothing else tells.
  const painted = await page.evaluate(`(() => {
    const canvas = document.querySelector('.lanes-anchor canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value) => value !== 0);
  })()`);
  expect(painted).toBe(true);
  expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
}, 180_000);

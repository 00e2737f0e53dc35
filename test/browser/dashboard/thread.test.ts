import { expect, it, vi } from 'vitest';
import { openDashboard, useBrowser } from './open-dashboard.ts';
import { scrollTo } from './scroll-to.ts';
import { startTalkingFleet, untilIdle } from './small-fleet.ts';

useBrowser();

it('[Z33, Z34, Z40] a thread is read live, over a reload, and afterwards at any moment; nothing is missing and nothing is twice', async () => {
  const { page, api, complaints } = await openDashboard();
  const sessionId = await startTalkingFleet(api, 3, 60, 60);
  await page.getByRole('link', { name: /^talker\s*2/ }).click();
  const transcript = page.getByRole('log', { name: 'Transcript' });
  // It grows while it is said.
  await transcript.getByText('word5 ').first().waitFor();
  await page.reload();
  await transcript.getByText('word15 ').first().waitFor();
  await transcript.locator('.block[data-block=text] strong', { hasText: 'all' }).waitFor();
  await untilIdle(api, sessionId);
  await page.getByText('done', { exact: false }).first().waitFor();
  const expected = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
  const texts = await transcript.locator('.block[data-block=text]').allTextContents();
  expect(texts.map((text) => text.replace(/^▸/, '').trim())).toEqual([
    `About topic 2: ${expected}`,
    'That was all about topic 2.',
  ]);
  expect(await transcript.locator('.block[data-block=request]').count()).toBe(2);

  // A call with its result as one block, and in the inspector what the wire said.
  await transcript.locator('.block[data-block=call] button').click();
  await page.getByRole('tab', { name: 'Tool I/O' }).click();
  await page.getByRole('tabpanel').getByText('*.md').waitFor();
  await page.getByRole('tab', { name: 'Usage' }).click();
  const sums = await page.locator('.usage tfoot td').allTextContents();
  const said = await page.getByText('The stream says').textContent();
  expect(said).toContain(`${sums[1]} in, ${sums[4]} out`);

  // Back in time: the whole app shows that moment.
  const track = page.getByRole('slider', { name: 'Time of the session' });
  const box = (await track.boundingBox())!;
  await track.click({ position: { x: box.width * 0.5, y: 20 } });
  await page.getByText(/^REPLAY/).waitFor();
  const then = (await transcript.textContent())!;
  expect(then).toContain('About topic 2: word0');
  expect(then).not.toContain('word59');
  await page.getByRole('link', { name: 'Fleet' }).click();
  await page.locator('.counts button', { hasText: '4 running' }).waitFor();
  await page.getByRole('link', { name: 'Thread', exact: true }).click();

  // Step by step: each event once, and back to where it was.
  const count = async () => Number(/event (\d+)/.exec((await page.locator('.scrubber-time').textContent())!)![1]);
  const before = await count();
  await page.keyboard.press(']');
  await page.keyboard.press(']');
  expect(await count()).toBe(before + 2);
  await page.keyboard.press('[');
  expect(await count()).toBe(before + 1);
  await page.keyboard.press('}');
  expect(await count()).toBeGreaterThan(before + 1);
  // Played, it arrives at the end by itself.
  await page.getByRole('button', { name: '16×' }).click();
  await track.click({ position: { x: box.width * 0.4, y: 20 } });
  await page.keyboard.press(' ');
  await vi.waitFor(
    async () => expect(await page.locator('.scrubber-time').textContent()).toMatch(/event (\d+) of \1$/),
    30_000,
  );
  await page.keyboard.press('.');
  await page.getByText(/^REPLAY/).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Fleet' }).click();
  await page.locator('.counts button', { hasText: '4 done' }).waitFor();
  expect(complaints).toEqual([]);
}, 180_000);

it('[Z41] a message reaches the coordinator, an interrupt stops one thread or all, and an agent starts a session', async () => {
  const { page, api, complaints } = await openDashboard();
  const sessionId = await startTalkingFleet(api, 2, 400, 60);
  await page.getByRole('link', { name: /^talker\s*1/ }).click();
  await page.getByRole('button', { name: 'Interrupt' }).click();
  await page.locator('.thread-head', { hasText: 'cancelled' }).waitFor();
  await page.getByRole('link', { name: 'Fleet' }).click();
  await page.locator('.thread-row', { hasText: 'lead' }).locator('[data-column=doing]').click();
  await page.keyboard.press('X');
  await page.getByText('lead and 2 below it').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Interrupt' }).click();
  await untilIdle(api, sessionId);
  await page.keyboard.press('s');
  await page.getByRole('dialog').getByRole('textbox').fill('Once more, please.');
  await page.getByRole('button', { name: 'Send' }).click();
  await vi.waitFor(async () => {
    const data = await api.events(sessionId, 'user.message');
    expect(JSON.stringify(data)).toContain('Once more, please.');
  }, 20_000);
  await api.send(sessionId, { type: 'user.interrupt' });

  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await page
    .getByRole('navigation', { name: 'Agents' })
    .getByRole('link', { name: /talker/ })
    .click();
  await page.getByLabel('Start a session with').fill('the weather');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByRole('log', { name: 'Transcript' }).getByText('About the weather: word0').waitFor();
  await page.keyboard.press('x');
  await page.locator('.thread-head', { hasText: 'cancelled' }).waitFor();
  expect(complaints).toEqual([]);
}, 180_000);

it('[Z42] of a transcript of 100,000 events only what is in sight is in the page, and both ends are reached at once', async () => {
  const { page, api, complaints } = await openDashboard();
  const sessionId = await startTalkingFleet(api, 1, 3, 5);
  await untilIdle(api, sessionId);
  await page.route(/\/threads\/[^/]+\/events/, async (route) => {
    const number = Number(new URL(route.request().url()).searchParams.get('page') ?? 0);
    const data = Array.from({ length: 1_000 }, (_, index) => {
      const place = number * 1_000 + index;
      const base = { id: `sevt_${place}`, processed_at: new Date(1_700_000_000_000 + place).toISOString() };
      if (place % 2 === 0) return { ...base, type: 'span.model_request_start' };
      return { ...base, type: 'agent.message', content: [{ type: 'text', text: `**Message** ${place}` }] };
    });
    await route.fulfill({ json: { data, next_page: number === 99 ? null : String(number + 1) } });
  });
  await page.getByRole('link', { name: 'talker' }).click();
  const transcript = page.getByRole('log', { name: 'Transcript' });
  await transcript.getByText('Message 99999').waitFor({ timeout: 60_000 });
  expect(await transcript.locator('.block').count()).toBeLessThan(150);
  await scrollTo(page, transcript, transcript.getByText('Message 1', { exact: true }), -1e8);
  expect(await transcript.locator('.block').count()).toBeLessThan(150);
  // Far from the end it stays where it is.
  await page.waitForTimeout(500);
  await transcript.getByText('Message 1', { exact: true }).waitFor();
  expect(complaints).toEqual([]);
}, 180_000);

import { expect, it } from 'vitest';
import { openDashboard, useBrowser } from './open-dashboard.ts';
import { beyond, violations } from './page-faults.ts';
import { createAgent, startSession } from './small-fleet.ts';

useBrowser();

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

it('[Z522, Z523, Z524, Z526] a session begins with task, state and result; its pending call is decided there with the whole input; images are shown; Enter expands', async () => {
  const { page, api, server, complaints } = await openDashboard();
  const write = (path: string) => [{ call: 'write', input: { file_path: path, content: `the ${path}\n` } }];
  const agent = await createAgent(api, 'writer', [
    write('one.txt'),
    write('two.txt'),
    [{ say: '**All** is written.' }],
  ]);
  const session = await startSession(api, agent, 'Two files');
  await page.goto(`${server.url}/#/session/${session}`);
  const brief = page.getByRole('region', { name: 'Brief' });
  await brief.getByText('Task Begin.').waitFor();
  await brief.getByText('needs you').waitFor();
  const pending = page.getByRole('region', { name: 'Needs you' });
  await pending.getByText('the one.txt').waitFor();
  for (const width of [1_440, 390]) {
    await page.setViewportSize({ width, height: 844 });
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect([width, colorScheme, await violations(page), await page.evaluate(beyond)]).toEqual([
        width,
        colorScheme,
        [],
        [],
      ]);
    }
  }
  await page.setViewportSize({ width: 1_440, height: 900 });
  // A decision can be undone for a moment, and nothing is sent then.
  await pending.getByRole('button', { name: 'Approve once' }).click();
  await pending.getByRole('button', { name: 'Undo' }).click();
  await pending.getByRole('button', { name: 'Approve once' }).click();
  await pending.getByText('the two.txt').waitFor();
  await pending.getByRole('button', { name: 'Deny' }).click();
  await pending.getByLabel('Reason (sent to the agent)').fill('One is enough.');
  await page.reload();
  // The reason survives the reload.
  await pending.getByRole('button', { name: 'Deny' }).click();
  expect(await pending.getByLabel('Reason (sent to the agent)').inputValue()).toBe('One is enough.');
  await page.keyboard.press('Enter');
  await pending.waitFor({ state: 'detached' });
  await brief.getByText('Result All is written.').waitFor();
  await brief.getByText('done').waitFor();
  const answers = await api.events<{ result: string; deny_message?: string }>(session, 'user.tool_confirmation');
  expect(answers.map(({ result, deny_message: why }) => [result, why ?? ''])).toEqual([
    ['allow', ''],
    ['deny', 'One is enough.'],
  ]);

  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } };
  await api.send(session, { type: 'user.message', content: [{ type: 'text', text: 'Look at this.' }, image] });
  const shown = page.getByRole('img', { name: 'Image 1' });
  await shown.waitFor();
  await expect.poll(() => shown.evaluate((each) => (each as unknown as { naturalWidth: number }).naturalWidth)).toBe(1);

  const call = page.locator('.block[data-block=call]').first();
  await call.click({ position: { x: 4, y: 4 } });
  await page.keyboard.press('Enter');
  await call.getByRole('button', { expanded: true }).waitFor();
  await page.keyboard.press('Enter');
  await call.getByRole('button', { expanded: false }).waitFor();
  expect(complaints).toEqual([]);
}, 120_000);

it('[Z527, Z529] columns of the fleet are hidden and stay hidden after a reload; archiving an agent takes a second click', async () => {
  const { page, api, server } = await openDashboard();
  const agent = await createAgent(api, 'writer', [[{ call: 'write', input: { file_path: 'a', content: 'b' } }], []]);
  const lead = await createAgent(
    api,
    'lead',
    [[{ call: 'delegate', input: { tasks: [{ agent: 'writer', message: 'Write the first file.' }] } }], []],
    [agent],
  );
  await startSession(api, lead, 'Columns');
  const tasks = () => page.locator('.thread-row [data-column=task]').allTextContents();
  await expect.poll(tasks, { timeout: 20_000 }).toEqual(['Begin.', 'Write the first file.']);
  const header = page.getByRole('columnheader', { name: 'What the thread was asked last' });
  expect(await header.isVisible()).toBe(true);
  for (const again of [false, true]) {
    if (again) await page.reload();
    await page.locator('.column-menu summary').click();
    if (!again) await page.getByLabel('Task', { exact: true }).uncheck();
    await header.waitFor({ state: 'hidden' });
  }
  expect(await page.getByLabel('Task', { exact: true }).isChecked()).toBe(false);

  await page.goto(`${server.url}/#/agents/${agent}`);
  await page.getByRole('button', { name: 'Archive …' }).click();
  await page.getByText('No new session can use it').waitFor();
  const read = () => api.get<{ archived_at: string | null }>(`/v1/agents/${agent}`);
  expect((await read()).archived_at).toBeNull();
  await page.getByRole('button', { name: 'Archive it for good' }).click();
  await expect.poll(async () => (await read()).archived_at).not.toBeNull();
}, 120_000);

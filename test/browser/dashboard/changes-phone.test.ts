import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { createSession, done, openChanges, say, stepBackTo, withChanges, write } from './changes-session.ts';
import { useBrowser } from './open-dashboard.ts';
import { beyond, violations } from './page-faults.ts';
import { untilIdle } from './small-fleet.ts';

useBrowser();

it(
  '[WS701] at 390 px a change appears live, an earlier moment is shown, chosen files are applied, and the workspace is discarded; the tree has room for 4 files and the diff for 6 lines',
  () =>
    withChanges(async ({ page, api, complaints, workspaceOf }, user) => {
      await page.setViewportSize({ width: 390, height: 760 });
      const turns = [
        [write('src/one.ts', 'export const one = 1;\n')],
        done,
        [write('README.md', 'mine\n'), write('notes.md', LINES)],
        done,
      ];
      const id = await createSession(api, user.path, turns);
      await say(api, id);
      await untilIdle(api, id);
      await openChanges(page, id);
      const tree = page.getByRole('group', { name: 'Files of the session' });
      await tree.getByRole('button', { name: 'added one.ts +1 −0' }).waitFor();
      await say(api, id);
      await tree.getByRole('button', { name: 'added notes.md +20 −0' }).waitFor();
      await page.getByText('3 files changed, +22 −1').waitFor();
      await untilIdle(api, id);

      await tree.getByRole('button', { name: 'added notes.md' }).click();
      const diff = page.getByRole('group', { name: 'Diff', exact: true });
      await diff.getByText('line 1', { exact: true }).waitFor();
      expect(await heightOf(page, '.file-list')).toBeGreaterThanOrEqual(4 * 25);
      expect(await heightOf(page, '.code-lines')).toBeGreaterThanOrEqual(6 * 18.6);
      await look(page, 'live');

      await stepBackTo(page, '1 file changed, +1 −0');
      await look(page, 'replay');
      await page.getByRole('button', { name: 'back to live' }).click();
      await page.getByText('3 files changed, +22 −1').waitFor();

      await page.getByLabel('Choose notes.md').check();
      await page.getByRole('button', { name: 'Apply 1 chosen' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(user.path).waitFor();
      await look(page, 'apply');
      await dialog.getByRole('button', { name: 'Apply', exact: true }).click();
      await page.getByText('1 file applied to the working tree.').waitFor();
      expect(readFileSync(join(user.path, 'notes.md'), 'utf8')).toBe(LINES);
      expect(user.git('status', '--porcelain', '--untracked-files=all')).toBe('?? notes.md');

      await page.getByRole('button', { name: 'Discard' }).click();
      await dialog.getByText(workspaceOf(id)).waitFor();
      await look(page, 'discard');
      await dialog.getByRole('button', { name: 'Discard' }).click();
      await page.getByText(/^The workspace was discarded\. Its diffs stay readable/).waitFor();
      await expect.poll(() => existsSync(workspaceOf(id))).toBe(false);
      await look(page, 'discarded');
      expect(complaints).toEqual([]);
    }),
  180_000,
);

const LINES = Array.from({ length: 20 }, (_, at) => `line ${at + 1}\n`).join('');

async function heightOf(page: Page, selector: string): Promise<number> {
  return (await page.locator(selector).first().boundingBox())?.height ?? 0;
}

/** Everything is reachable, in both themes. With `FLEETLOOM_PICTURES=<directory>` a person can look, too. */
async function look(page: Page, name: string): Promise<void> {
  expect([name, await page.evaluate(beyond)]).toEqual([name, []]);
  const directory = process.env['FLEETLOOM_PICTURES'];
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect([name, colorScheme, await violations(page, true)]).toEqual([name, colorScheme, []]);
    if (directory !== undefined)
      await page.screenshot({ path: join(directory, `changes-phone-${name}-${colorScheme}.png`) });
  }
}

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import {
  bash,
  createScripted,
  createSession,
  done,
  openChanges,
  say,
  startDone,
  stepBackTo,
  withChanges,
  write,
} from './changes-session.ts';
import { useBrowser } from './open-dashboard.ts';
import { untilIdle } from './small-fleet.ts';
import { beyond, violations } from './page-faults.ts';

useBrowser();

const main = 'export const answer = 42; // right\nconst name = "x";\n';

it(
  '[WS150, WS151, WS152] a change appears in the tab while the agent works, without polling; the scrubber shows an earlier moment; one turn can be shown alone',
  () =>
    withChanges(async ({ page, api, complaints }, user) => {
      const id = await createSession(api, user.path, [
        [write('src/first.ts', 'one\n')],
        [{ sleep_ms: 4_000 }, write('src/second.ts', main)],
        done,
        [bash('rm README.md')],
        done,
      ]);
      await page.evaluate(`location.hash = '#/session/${id}?tab=changes'`);
      await page.getByRole('heading', { name: 'No agent has worked yet' }).waitFor();
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      await say(api, id);
      const tree = page.getByRole('group', { name: 'Files of the session' });
      await tree.getByRole('button', { name: 'added first.ts +1 −0' }).waitFor();
      // Nothing is requested while nothing changes.
      await page.waitForTimeout(300);
      const before = requests.filter((url) => /\/changes\?|\/changes$/.test(url)).length;
      await page.waitForTimeout(1_500);
      expect(requests.filter((url) => /\/changes\?|\/changes$/.test(url)).length).toBe(before);
      await tree.getByRole('button', { name: 'added second.ts +2 −0' }).waitFor();
      await page.getByText('2 files changed, +3 −0').waitFor();
      await untilIdle(api, id);
      await say(api, id);
      await tree.getByRole('button', { name: 'deleted README.md +0 −1' }).waitFor();
      await untilIdle(api, id);

      // The diff of a file, with its code highlighted.
      await tree.getByRole('button', { name: 'added second.ts' }).click();
      const diff = page.getByRole('group', { name: 'Diff', exact: true });
      await diff.locator('[data-diff=added]').first().waitFor();
      expect(await diff.locator('[data-diff=added] code').allTextContents()).toEqual(main.trimEnd().split('\n'));
      expect(await diff.locator('[data-code=keyword]').first().textContent()).toBe('export');
      expect(await diff.locator('[data-code=comment]').first().textContent()).toBe('// right');

      // One turn alone.
      await page.getByLabel('Turn').selectOption({ index: 2 });
      await page.getByText('1 file changed, +0 −1').waitFor();
      await page.getByLabel('Turn').selectOption({ index: 0 });
      await page.getByText('3 files changed, +3 −1').waitFor();

      // Back to the moment of the first change, event by event.
      await stepBackTo(page, '1 file changed, +1 −0');
      expect(await tree.getByRole('button').allTextContents()).toEqual([
        expect.stringContaining('src/'),
        expect.stringContaining('first.ts'),
      ]);
      await page.getByText(/^REPLAY/).waitFor();
      await page.keyboard.press('.');
      await page.getByText('3 files changed, +3 −1').waitFor();
      expect(complaints).toEqual([]);
    }),
  180_000,
);

it(
  '[WS153, WS154] chosen files are applied after a preview and only they are written; a conflict is listed and nothing is written',
  () =>
    withChanges(async ({ page, api, complaints }, user) => {
      const id = await startDone(api, user.path, [
        [write('src/main.ts', main), write('notes/a.md', 'a\n'), write('notes/b.md', 'b\n')],
        done,
      ]);
      await user.write('src/main.ts', 'mine\n');
      await openChanges(page, id);
      const dialog = page.getByRole('dialog', { name: 'Apply changes' });
      // All files: one of them is in conflict.
      await page.getByRole('button', { name: 'Apply all' }).click();
      await dialog.getByText('1 file in conflict with your own changes.').waitFor();
      expect(await dialog.locator('.conflicts code').allTextContents()).toEqual(['src/main.ts']);
      expect(await dialog.getByRole('button', { name: 'Apply', exact: true }).isDisabled()).toBe(true);
      await page.keyboard.press('Escape');
      expect(user.git('status', '--porcelain')).toBe(' M src/main.ts');

      // One chosen file.
      await page.getByLabel('Choose notes/b.md').check();
      await page.getByRole('button', { name: 'Apply 1 chosen' }).click();
      await dialog.getByText(user.path).waitFor();
      expect(await dialog.locator('.changed-files li').allTextContents()).toEqual(['added notes/b.md +1 −0']);
      await dialog.getByRole('button', { name: 'Apply', exact: true }).click();
      await page.getByText('1 file applied to the working tree.').waitFor();
      expect(readFileSync(join(user.path, 'notes/b.md'), 'utf8')).toBe('b\n');
      expect(user.git('status', '--porcelain', '--untracked-files=all')).toBe(' M src/main.ts\n?? notes/b.md');
      await page.getByText(/^last applied: 1 file to the working tree by .+ at [\d:]{8}$/).waitFor();

      // All files, to a branch: one commit.
      await page.getByRole('button', { name: 'Apply all' }).click();
      await dialog.getByText('1 file in conflict with your own changes.').waitFor();
      await dialog.getByLabel('a branch, as one commit').check();
      await dialog.getByLabel('Branch', { exact: true }).fill('from-agents');
      await dialog.getByLabel('Commit message (optional)').fill('Take the work');
      await dialog.getByText('3 files').waitFor();
      await dialog.getByRole('button', { name: 'Apply', exact: true }).click();
      await page.getByText('3 files applied to from-agents.').waitFor();
      expect(user.git('log', '-1', '--format=%s', 'from-agents')).toBe('Take the work');
      expect(user.git('show', 'from-agents:src/main.ts')).toBe(main.trimEnd());
      expect(readFileSync(join(user.path, 'src/main.ts'), 'utf8')).toBe('mine\n');
      // The browser logs the conflict of both previews, nothing else.
      expect(complaints).toEqual([expect.stringContaining('409'), expect.stringContaining('409')]);
    }),
  180_000,
);

it(
  '[WS155, WS156] discarding says what is lost and removes the workspace; restoring sets it back to the replayed moment',
  () =>
    withChanges(async ({ page, api, complaints, workspaceOf }, user) => {
      const id = await startDone(api, user.path, [
        [write('a.txt', 'first\n')],
        [write('a.txt', 'second\nthird\n')],
        done,
      ]);
      const file = join(workspaceOf(id), 'a.txt');
      await openChanges(page, id);
      await page.getByText('1 file changed, +2 −0').waitFor();
      await stepBackTo(page, '1 file changed, +1 −0');
      await page.getByRole('button', { name: 'Restore' }).click();
      const restore = page.getByRole('dialog', { name: 'Restore files' });
      await restore.getByText('Sets the workspace back to').waitFor();
      expect(await restore.locator('.changed-files li').allTextContents()).toEqual(['modified a.txt +1 −2']);
      expect(readFileSync(file, 'utf8')).toBe('second\nthird\n');
      await restore.getByRole('button', { name: 'Restore' }).click();
      await page.getByText('1 file restored.').waitFor();
      await page.getByText('1 file changed, +1 −0').waitFor();
      expect(await page.getByText(/^REPLAY/).isVisible()).toBe(false);
      expect(readFileSync(file, 'utf8')).toBe('first\n');

      const before = user.fingerprint([
        '.git/worktrees',
        '.git/refs/heads/fleetloom',
        '.git/logs/refs/heads/fleetloom',
      ]);
      await page.getByRole('button', { name: 'Discard' }).click();
      const discard = page.getByRole('dialog', { name: 'Discard changes' });
      await discard.getByText(workspaceOf(id)).waitFor();
      expect(await discard.locator('.changed-files li').allTextContents()).toEqual(['added a.txt +1 −0']);
      expect(readFileSync(file, 'utf8')).toBe('first\n');
      await discard.getByRole('button', { name: 'Discard' }).click();
      await page.getByText(/^The workspace was discarded\. Its diffs stay readable/).waitFor();
      // The page shows the event, which is logged before the files are removed.
      await expect.poll(() => existsSync(file)).toBe(false);
      expect(user.git('branch', '--list', 'fleetloom/*')).toBe('');
      expect(
        user.fingerprint(['.git/worktrees', '.git/refs/heads/fleetloom', '.git/logs/refs/heads/fleetloom']),
      ).toEqual(before);
      await page.getByRole('group', { name: 'Diff', exact: true }).getByText('first').waitFor();
      expect(complaints).toEqual([]);
    }),
  180_000,
);

it(
  '[WS157, WS158] the tab has no violation that axe finds, light and dark, fits a phone, and works with the keyboard',
  () =>
    withChanges(async ({ page, api, complaints }, user) => {
      const id = await startDone(api, user.path, [
        [write('src/main.ts', main), write('deep/er/hidden.py', 'x = "\u202e" # turned\n')],
        [bash('rm README.md; for i in $(seq 0 19999); do echo "const value$i = $i;"; done > long.js')],
        done,
      ]);
      await openChanges(page, id);
      await page.getByText('4 files changed').waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('k');
      await page.getByRole('heading', { name: 'deep/er/hidden.py' }).waitFor();
      await page.getByText('x = "⟦RLO⟧" # turned').waitFor();
      const views = [
        async () => {},
        async () => page.keyboard.press('u'),
        async () => {
          await page.getByRole('button', { name: 'File', exact: true }).click();
          await page.getByRole('group', { name: 'Content of the file' }).waitFor();
          await page.getByRole('button', { name: 'All', exact: true }).click();
          await page.getByRole('button', { name: '.gitignore' }).waitFor();
        },
        async () => {
          await page.keyboard.press('a');
          await page.getByRole('dialog').getByText(user.path).waitFor();
        },
        async () => {
          await page.keyboard.press('Escape');
          await page.getByRole('button', { name: 'Discard' }).click();
          await page.getByRole('dialog').getByText('Your own files are not touched').waitFor();
        },
      ];
      for (const [index, go] of views.entries()) {
        await go();
        await page.emulateMedia({ colorScheme: 'dark' });
        expect([index, 'dark', await violations(page)]).toEqual([index, 'dark', []]);
        await page.emulateMedia({ colorScheme: 'light' });
        expect([index, 'light', await violations(page, true)]).toEqual([index, 'light', []]);
        for (const width of [1_024, 390]) {
          await page.setViewportSize({ width, height: 760 });
          expect([index, width, await page.evaluate(beyond)]).toEqual([index, width, []]);
          await keepPicture(page, `changes-${index}-${width}`);
        }
        await page.setViewportSize({ width: 1_440, height: 900 });
        await keepPicture(page, `changes-${index}`);
      }
      await page.keyboard.press('Escape');

      // Of 20,000 lines only the visible ones are in the page.
      await page.getByRole('button', { name: 'Diff', exact: true }).click();
      await page.getByRole('button', { name: 'added long.js' }).click();
      const diff = page.getByRole('group', { name: /^Diff/ });
      await diff.getByText('const value0 = 0;').waitFor();
      expect(await diff.locator('.code-line').count()).toBeLessThan(400);
      await diff.focus();
      await page.keyboard.press('End');
      await diff.getByText('const value19999 = 19999;').waitFor();

      // The editor opens the file of the worktree; the transcript names the change and leads back.
      expect(await page.getByRole('link', { name: 'Open in editor' }).getAttribute('href')).toMatch(
        /^vscode:\/\/file\/.*\/workspaces\/sesn_\w+\/long\.js$/,
      );
      await page.keyboard.press('d');
      await page.getByRole('log').getByRole('link', { name: '2 files changed' }).click();
      await page.getByText('4 files changed').waitFor();
      expect(complaints).toEqual([]);
    }),
  240_000,
);

it(
  '[WS152, WS168] the changes of one thread can be shown alone; a failed request is shown with its reason and can be repeated; a session without a source has no tab',
  () =>
    withChanges(async ({ page, api }, user) => {
      const writer = await createScripted(api, 'writer', [[write('from-writer.txt', 'w\n')], done]);
      const tasks = [{ agent: 'writer', message: 'Write.' }];
      const lead = [[write('from-lead.txt', 'one\ntwo\n')], [{ call: 'delegate', input: { tasks } }], done];
      const id = await createSession(api, user.path, lead, [writer]);
      await say(api, id);
      await untilIdle(api, id);
      await openChanges(page, id);
      await page.getByText('2 files changed, +3 −0').waitFor();
      await page.getByLabel('Thread', { exact: true }).selectOption({ label: 'writer' });
      await page.getByText('1 file changed, +1 −0').waitFor();
      const tree = page.getByRole('group', { name: 'Files of the session' });
      expect(await tree.getByRole('button').allTextContents()).toEqual(['Aadded from-writer.txt+1 −0']);
      expect(await page.getByLabel('Turn').locator('option').allTextContents()).toEqual([
        'All turns',
        expect.stringMatching(/^[\d:]{8} writer, turn 1 \(1 change\)$/),
      ]);

      // The server is busy: its message is shown until a request succeeds.
      const message = 'The node that has the workspace does not answer.';
      const body = JSON.stringify({ type: 'error', error: { type: 'api_error', message, details: {} } });
      await page.route(/\/changes/, (route) => route.fulfill({ status: 503, contentType: 'application/json', body }));
      await page.getByLabel('Thread', { exact: true }).selectOption({ label: 'coder' });
      await page.getByRole('alert').getByText(message).waitFor();
      await page.unroute(/\/changes/);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('1 file changed, +2 −0').waitFor();

      const environment = await api.post('/v1/environments', { name: 'there' });
      const text = [{ type: 'text', text: 'Go.' }];
      const plain = await api.post('/v1/sessions', {
        agent: await createScripted(api, 'plain', [done]),
        environment_id: environment.id,
        initial_events: [{ type: 'user.message', content: text }],
      });
      await page.evaluate(`location.hash = '#/session/${plain.id}'`);
      await page.getByRole('log').getByText('done').waitFor();
      expect(await page.getByRole('link', { name: 'Changes' }).count()).toBe(0);
    }),
  180_000,
);

it(
  '[WS167] a line is cut after 2,000 characters, a file is shown up to 2,000,000 bytes, and a tree is listed up to 5,000 files',
  () =>
    withChanges(async ({ page, api, complaints }, user) => {
      const make = [
        'head -c 2000 /dev/zero | tr "\\0" a > line-2000.txt; head -c 2001 /dev/zero | tr "\\0" b > line-2001.txt',
        'yes 1234567 | head -c 2000000 > full.txt; yes 1234567 | head -c 2000001 > large.txt',
        'mkdir many; for i in $(seq 10001 14993); do echo > many/$i; done',
      ].join('; ');
      const id = await startDone(api, user.path, [[bash(make)], done, [bash('echo > many/x')], done]);
      await openChanges(page, id);
      await page.getByRole('button', { name: 'many/' }).click();
      const diff = page.getByRole('group', { name: 'Diff', exact: true });
      await page.getByRole('button', { name: 'added line-2000.txt' }).click();
      await diff.getByText('a'.repeat(2_000), { exact: true }).waitFor();
      await page.getByRole('button', { name: 'added line-2001.txt' }).click();
      await diff.getByText('… 1 more character').waitFor();
      expect(await diff.locator('[data-diff=added] code').textContent()).toBe(
        `${'b'.repeat(2_000)} … 1 more character`,
      );

      await page.getByRole('button', { name: 'File', exact: true }).click();
      await page.getByRole('button', { name: 'added full.txt' }).click();
      await page.getByRole('group', { name: 'Content of the file' }).getByText('1234567').first().waitFor();
      await page.getByRole('button', { name: 'added large.txt' }).click();
      await page.getByText('The file has 1.9 MB. Download it to read it.').waitFor();

      // 3 files of the repository, 4 above, 4,993 in one directory; then one more.
      await page.getByRole('button', { name: 'All', exact: true }).click();
      await page.getByRole('button', { name: '.gitignore' }).waitFor();
      expect(await page.getByText('The first 5,000 files are listed.').count()).toBe(0);
      await say(api, id);
      await page.getByText('The first 5,000 files are listed.').waitFor();
      await untilIdle(api, id);
      expect(complaints).toEqual([]);
    }),
  240_000,
);

/** With `FLEETLOOM_PICTURES=<directory>` a person can look at what the test saw. */
async function keepPicture(page: Page, name: string): Promise<void> {
  const directory = process.env['FLEETLOOM_PICTURES'];
  if (directory !== undefined) await page.screenshot({ path: join(directory, `${name}.png`) });
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createSession, done, openChanges, say, startDone, stepBackTo, withChanges, write } from './changes-session.ts';
import { useBrowser } from './open-dashboard.ts';
import { untilIdle } from './small-fleet.ts';

useBrowser();

it(
  '[Z200] Escape closes a dialog and leaves a field, and does not leave the Changes tab',
  () =>
    withChanges(async ({ page, api, complaints }, user) => {
      const id = await startDone(api, user.path, [[write('a.txt', 'one\n')], done]);
      await openChanges(page, id);
      await page.getByRole('button', { name: 'Apply all' }).click();
      await page.getByRole('dialog').getByText('Written to').waitFor();
      for (let times = 0; times < 3; times++) await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.getByLabel('Turn').focus();
      for (let times = 0; times < 3; times++) await page.keyboard.press('Escape');
      await page.getByText('1 file changed, +1 −0').waitFor();
      expect(await page.evaluate('location.hash')).toContain('tab=changes');
      // From the transcript it leads to the fleet, as before.
      await page.keyboard.press('d');
      await page.getByRole('log').waitFor();
      await page.keyboard.press('Escape');
      await expect.poll(() => page.evaluate('location.hash')).toBe('#/fleet');
      expect(complaints).toEqual([]);
    }),
  120_000,
);

it(
  '[Z201] the preview of a branch is requested once its name stays the same for 300 ms, an earlier request is aborted, and an error goes away with its input',
  () =>
    withChanges(async ({ page, api }, user) => {
      const id = await startDone(api, user.path, [[write('a.txt', 'one\n')], done]);
      await openChanges(page, id);
      await page.getByRole('button', { name: 'Apply all' }).click();
      const dialog = page.getByRole('dialog', { name: 'Apply changes' });
      await dialog.getByText('Written to').waitFor();
      const branches: unknown[] = [];
      page.on('request', (request) => {
        const body = request.url().endsWith('/changes/apply') ? (request.postDataJSON() as object) : undefined;
        if (body !== undefined) branches.push(Reflect.get(body, 'branch'));
      });
      await dialog.getByLabel('a branch, as one commit').check();
      await dialog.getByLabel('Branch', { exact: true }).pressSequentially('from-agents', { delay: 20 });
      await dialog.getByText('branch from-agents').waitFor();
      expect(branches).toEqual(['from-agents']);

      // A name that cannot be one of a branch: the error is gone as soon as the name changes.
      await dialog.getByLabel('Branch', { exact: true }).fill('main');
      const error = dialog.getByRole('alert');
      await error.getByText(/checked out/).waitFor();
      await dialog.getByLabel('Branch', { exact: true }).fill('main-2');
      expect(await error.count()).toBe(0);
      await dialog.getByText('branch main-2').waitFor();

      // A request that is still open is aborted by the next one.
      const failed: (string | undefined)[] = [];
      page.on('requestfailed', (request) => failed.push(request.failure()?.errorText));
      let isHeld = false;
      await page.route(/\/changes\/apply$/, async (route) => {
        const body = route.request().postDataJSON() as { branch: string };
        if (body.branch === 'slow') isHeld = true;
        else await route.continue();
      });
      await dialog.getByLabel('Branch', { exact: true }).fill('slow');
      await expect.poll(() => isHeld).toBe(true);
      await dialog.getByLabel('Branch', { exact: true }).fill('quick');
      await dialog.getByText('branch quick').waitFor();
      expect(failed).toEqual([expect.stringContaining('ABORTED')]);

      // The same with an error of the application itself.
      await page.unroute(/\/changes\/apply$/);
      user.git('branch', 'quick');
      user.git('worktree', 'add', '--quiet', join(user.root, 'elsewhere'), 'quick');
      await dialog.getByRole('button', { name: 'Apply', exact: true }).click();
      await error.getByText(/checked out/).waitFor();
      await dialog.getByLabel('Branch', { exact: true }).fill('other');
      await error.waitFor({ state: 'detached' });
      await dialog.getByRole('button', { name: 'Apply', exact: true }).click();
      await page.getByText('1 file applied to other.').waitFor();
      expect(user.git('show', 'other:a.txt')).toBe('one');
    }),
  180_000,
);

it(
  '[Z202, Z204] files can be set back to the beginning and to each recorded change, and not while the session runs, in a replay either',
  () =>
    withChanges(async ({ page, api, complaints, workspaceOf }, user) => {
      const id = await startDone(api, user.path, [
        [write('a.txt', 'first\n')],
        [write('a.txt', 'second\n')],
        [write('b.txt', 'b\n')],
        done,
        [{ sleep_ms: 6_000 }, { say: 'slept' }],
        done,
      ]);
      const read = () => readFileSync(join(workspaceOf(id), 'a.txt'), 'utf8');
      await openChanges(page, id);
      await page.getByText('2 files changed, +2 −0').waitFor();
      const restore = page.getByRole('button', { name: 'Restore …' });
      await restore.click();
      const dialog = page.getByRole('dialog', { name: 'Restore files' });
      const moment = dialog.getByLabel('Set the files back to');
      expect(await moment.locator('option').allTextContents()).toEqual([
        expect.stringMatching(/^[\d:]{8}, after a change of 1 file \(\+1 −1\)$/),
        expect.stringMatching(/^[\d:]{8}, after a change of 1 file \(\+1 −0\)$/),
        'the beginning, before any change',
      ]);
      expect(await moment.inputValue()).toBe('start');
      const listed = () => dialog.locator('.changed-files li').allTextContents();
      await expect.poll(listed).toEqual(['deleted a.txt +0 −1', 'deleted b.txt +0 −1']);
      await moment.selectOption({ index: 1 });
      await expect.poll(listed).toEqual(['modified a.txt +1 −1', 'deleted b.txt +0 −1']);
      await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
      await page.getByText('2 files restored.').waitFor();
      await page.getByText('1 file changed, +1 −0').waitFor();
      expect(read()).toBe('first\n');
      await restore.click();
      await dialog.getByText('Sets the workspace back to').waitFor();
      await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
      await page.getByRole('heading', { name: 'No file has changed' }).waitFor();
      expect(read).toThrow();

      await say(api, id);
      await expect.poll(() => restore.isDisabled(), { timeout: 10_000 }).toBe(true);
      expect(await restore.getAttribute('title')).toBe('While the session runs, its files cannot be set back.');
      await stepBackTo(page, '1 file changed, +1 −0');
      expect(await restore.isDisabled()).toBe(true);
      await untilIdle(api, id);
      await expect.poll(() => restore.isDisabled(), { timeout: 10_000 }).toBe(false);
      expect(complaints).toEqual([]);
    }),
  180_000,
);

it(
  '[Z203, Z205] an application, a restore and a discarding by another browser or the command line appear at once, without polling',
  () =>
    withChanges(async ({ page, api, complaints }, user) => {
      const id = await createSession(api, user.path, [
        [write('a.txt', 'one\n'), write('b.txt', 'two\n')],
        done,
        [write('b.txt', 'three\n')],
        done,
      ]);
      await say(api, id);
      await untilIdle(api, id);
      await openChanges(page, id);
      await page.getByText('2 files changed, +2 −0').waitFor();
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      const post = (name: string, body: object) => api.post(`/v1/sessions/${id}/changes/${name}`, body);
      await post('apply', { onto: 'working_tree', paths: ['a.txt'] });
      await page.getByText(/^last applied: 1 file to the working tree by .+ at [\d:]{8}$/).waitFor();
      await post('apply', { onto: 'branch', branch: 'taken' });
      await page.getByText(/^last applied: 2 files to branch taken by .+ at [\d:]{8}$/).waitFor();
      // Later changes are not part of what was applied.
      await say(api, id);
      await untilIdle(api, id);
      await page.getByText(/^last applied: 2 files to branch taken by .+ at [\d:]{8}, changed since$/).waitFor();
      await post('restore', { at: 'start' });
      await page.getByRole('heading', { name: 'No file has changed' }).waitFor();
      await post('discard', {});
      await page.getByText(/^The workspace was discarded\. Its diffs stay readable/).waitFor();
      const count = requests.filter((url) => /\/changes(\?|$)/.test(url)).length;
      expect(count).toBeLessThanOrEqual(6);
      await page.waitForTimeout(1_500);
      expect(requests.filter((url) => /\/changes(\?|$)/.test(url))).toHaveLength(count);
      expect(complaints).toEqual([]);
    }),
  180_000,
);

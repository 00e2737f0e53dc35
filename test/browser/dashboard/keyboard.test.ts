import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { openDashboard, useBrowser } from './open-dashboard.ts';
import { startFleetWithApprovals } from './small-fleet.ts';

useBrowser();

it('[Z35, Z311] everything works with the keyboard alone: sign in, select, collapse, order, filter, approve, read, replay, find, link, help', async () => {
  const { page, api, server, key, workspaceOf, context, complaints } = await openDashboard({ isSignedIn: false });
  const press = async (...keys: readonly string[]) => {
    for (const one of keys) await page.keyboard.press(one);
  };
  await page.goto(server.url);
  // The key field gets the focus without a click, shortly after the page is loaded.
  await page.locator('#key:focus').waitFor();
  await page.keyboard.type(key);
  await press('Enter');
  await page.getByRole('heading', { name: 'No agents yet' }).waitFor();
  const sessionId = await startFleetWithApprovals(api, 2);
  await press('g', 'f');
  const rows = page.locator('.thread-row');
  await rows.nth(2).waitFor();

  await press('j', 'j');
  expect(await page.locator('.row[aria-selected=true] [data-column=agent]').textContent()).toContain('writer');
  expect(await page.evaluate('document.activeElement.getAttribute("role")')).toBe('row');
  await press('k', 'ArrowLeft');
  await rows.nth(1).waitFor({ state: 'detached' });
  await press('ArrowRight');
  await rows.nth(2).waitFor();
  await press('o');
  await page.getByRole('button', { name: 'attention', pressed: true }).waitFor();
  await press('o', '/');
  await page.keyboard.type('agent:lead');
  await rows.nth(1).waitFor({ state: 'detached' });
  await press('Escape', 'Escape');
  await rows.nth(2).waitFor();

  // From any page to the next item that needs the user.
  await press('n');
  await page.getByRole('article').waitFor();
  const name = /note-\d\.txt/.exec((await page.locator('.card .path').textContent())!)![0];
  await press('a');
  await vi.waitFor(() => expect(existsSync(join(workspaceOf(sessionId), name))).toBe(true), 20_000);
  await press('g', 'f', 'j', 'Enter');
  await page.getByRole('log', { name: 'Transcript' }).waitFor();
  await press('j', 'k', 'i', 'i');
  const selected = page.locator('.block[data-selected=true]');
  await selected.waitFor();
  // A link to the block selects it in a newly opened page.
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const words = await selected.textContent();
  await press('y');
  await page.getByText('Link copied.').waitFor();
  const link = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(link).toMatch(/#\/session\/sesn_\w+\/sthr_\w+\?event=sevt_\w+$/);
  await page.goto('about:blank');
  await page.goto(link);
  await selected.waitFor();
  expect(await selected.textContent()).toBe(words);
  await press('[');
  await page.getByText(/^REPLAY/).waitFor();
  await press('.');
  await page.getByText(/^REPLAY/).waitFor({ state: 'detached' });

  await press('Control+k');
  await page.keyboard.type('writer');
  await page
    .getByRole('option', { name: /thread .* writer/ })
    .first()
    .waitFor();
  await press('ArrowDown', 'Enter');
  await page.locator('.thread-head', { hasText: 'writer' }).waitFor();
  await press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts and states' }).waitFor();
  // Back to the list that was shown last; a page that was opened by a link has the sessions as its list.
  await press('Escape', 'Escape');
  await page.locator('.session-line').first().waitFor();
  await press('j', 'Enter');
  await page.locator('.thread-head').waitFor();
  await press('g', 'f');
  await rows.nth(2).waitFor();
  await press('j', 'Enter');
  await page.locator('.thread-head').waitFor();
  await press('Escape');
  await rows.nth(2).waitFor();
  expect(complaints).toEqual([]);
}, 180_000);

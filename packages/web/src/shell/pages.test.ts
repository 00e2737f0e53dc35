import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it, vi } from 'vitest';
import { parseHash } from '../stores/ui-store.ts';
import type { FleetSession } from '@fleetloom/protocol/fleet';
import { shellLimits } from './limits.ts';
import { findCommands } from './commands.ts';
import { Help } from './Help.tsx';
import { shellKeys } from './keys.ts';
import { findPage, pages } from './pages.ts';
import { SubPages } from './SubPages.tsx';
import { TopBar } from './TopBar.tsx';

it('[Z401] every page has an address, a shortcut, a link in the top bar or below a page of it, a command and a section in the help', () => {
  const topBar = renderToStaticMarkup(createElement(TopBar, { current: pages[0] }));
  const help = renderToStaticMarkup(createElement(Help));
  for (const page of pages) {
    const { view, name, shortcut, keys } = page;
    expect(findPage(parseHash(`#/${view}/some_id`).view)).toBe(page);
    expect(shellKeys[`g ${shortcut}`], name).toBeTypeOf('function');
    const subPages = renderToStaticMarkup(createElement(SubPages, { current: page }));
    expect(page.under === undefined ? topBar : subPages).toContain(`href="#/${view}"`);
    expect(findCommands('page').map(({ id }) => id)).toContain(view);
    expect(help).toContain(`<h2>${name}</h2>`);
    expect(Object.keys(keys).length, name).toBeGreaterThan(0);
  }
  expect(new Set(pages.map(({ view }) => view)).size).toBe(pages.length);
  expect(new Set(pages.map(({ shortcut }) => shortcut)).size).toBe(pages.length);
  expect(topBar.match(/aria-current="page"/g)).toHaveLength(1);
});

it('[Z401] the shortcut and the command of a page open it', () => {
  const location = { hash: '' };
  vi.stubGlobal('location', location);
  try {
    shellKeys['g a']?.();
    expect(location.hash).toBe('#/agents');
    findCommands('page inbox')[0]?.run();
    expect(location.hash).toBe('#/inbox');
  } finally {
    vi.unstubAllGlobals();
  }
});

it('[Z220, Z262, Z401] an empty address shows the sessions, and one that no page has says so', () => {
  for (const hash of ['', '#', '#/', '#/sessions', '#/sessions?q=a']) {
    expect(findPage(parseHash(hash).view), hash).toBe(pages[0]);
  }
  expect(pages[0].view).toBe('sessions');
  for (const hash of ['#/nonsense', '#/nonsense/sesn_1']) {
    const { view } = parseHash(hash);
    const html = renderToStaticMarkup(createElement('div', null, findPage(view).render({ view })));
    expect(html).toContain('There is no page <code>nonsense</code>');
    expect(html).toContain('href="#/sessions"');
  }
});

it('[Z243] the palette has at most 100 entries, sessions first, and an entry for each action of the page', () => {
  const cells = { state: 'done', stalls_at: null, agent: { name: 'a' }, reason: null, created_by: null } as const;
  const toSession = (number: number) =>
    ({
      ...cells,
      id: `sesn_${number}`,
      model: 'm',
      name: `Session ${number}`,
      repository: null,
      branch: null,
      changes: null,
      cost_usd: 0,
      tokens: 0,
      created_at: '2026-01-01T00:00:00Z',
      started_at: null,
      active_since: null,
      active_ms: 0,
    }) as unknown as FleetSession;
  const many = Array.from({ length: shellLimits.commandsMax + 1 }, (_, number) => toSession(number));
  expect(findCommands('', many)).toHaveLength(shellLimits.commandsMax);
  const found = findCommands('', many.slice(0, 1));
  expect(found[0]).toMatchObject({ kind: 'session', id: 'sesn_0' });
  expect(found.length).toBeGreaterThan(12);
});

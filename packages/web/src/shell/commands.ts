import { cutText, type FleetSession } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { sessionGlyphs, toSessionCells } from '../model/session-cells.ts';
import type { ShownRow } from '../model/summary.ts';
import { threadName } from '../model/thread-name.ts';
import { goLive, openThread } from '../stores/actions.ts';
import { serverNow } from '../stores/connection/clock.ts';
import { builtInViews, savedViews } from '../stores/saved-views.ts';
import { startDemo } from '../stores/start-demo.ts';
import { signOut } from '../stores/connection/sign-out.ts';
import { fleet, ui } from '../stores/stores.ts';
import { shellLimits } from './limits.ts';
import { findPage, openPage, pages } from './pages.ts';

/** An entry of the command palette. */
export interface Command {
  readonly id: string;
  readonly kind: 'page' | 'action' | 'thread' | 'session' | 'view';
  readonly name: string;
  readonly keys?: string;
  /** The state of the session or thread that the command opens. */
  readonly state?: { readonly ink: string; readonly glyph: string; readonly word: string };
  readonly run: () => void;
}

/** The commands that match all words: sessions first, then actions, pages, views and threads. */
export function findCommands(text: string, sessions: readonly FleetSession[] = []): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const isMatch = ({ name, kind }: Command) => words.every((word) => `${kind} ${name}`.toLowerCase().includes(word));
  const others = [...pageActions(), ...actions, ...pageCommands, ...viewCommands(), ...threadCommands()];
  return [...sessions.map(toSessionCommand), ...others.filter(isMatch)].slice(0, shellLimits.commandsMax);
}

function toSessionCommand(session: FleetSession): Command {
  const { state, glyph, word, name, agent, started } = toSessionCells(session, serverNow());
  return {
    id: session.id,
    kind: 'session',
    name: `${name} — ${agent}, ${started}`,
    state: { ink: sessionGlyphs[state].ink, glyph, word },
    run: () => openThread({ sessionId: session.id, threadId: null }),
  };
}

/** The actions of the keys of the current page. */
function pageActions(): readonly Command[] {
  const page = findPage(ui.route.view);
  return page.help.flatMap(([key, action]): Command[] => {
    const run = page.keys[NAMED_KEYS[key] ?? key];
    if (run === undefined) return [];
    return [{ id: `${page.view} ${key}`, kind: 'action', name: `${page.name}: ${action}`, keys: key, run }];
  });
}

/** Keys that the help shows as a word. */
const NAMED_KEYS: Readonly<Record<string, string>> = { Space: ' ', Esc: 'Escape' };

function threadCommands(): readonly Command[] {
  return fleet.rows().map((row: ShownRow): Command => {
    const name = cutText(cleanLine(`${threadName(row)} — ${row.slot.task ?? row.word}`), 90);
    const { state: ink, glyph, word } = row;
    return {
      id: `thread ${row.sessionId} ${row.key}`,
      kind: 'thread',
      name,
      state: { ink, glyph, word },
      run: () => openThread(row),
    };
  });
}

function viewCommands(): readonly Command[] {
  return [...builtInViews, ...savedViews.all()].map(({ name, search }) => ({
    id: `view ${name}`,
    kind: 'view',
    name: `Sessions: ${cleanLine(name)}`,
    run: () => ui.go({ view: 'sessions', search }),
  }));
}

const pageCommands: readonly Command[] = [
  ...pages.map((page): Command => {
    const { view, name, commandName = name, shortcut } = page;
    return { id: view, kind: 'page', name: commandName, keys: `g ${shortcut}`, run: () => openPage(page) };
  }),
  {
    id: 'recording',
    kind: 'page',
    name: 'Open a recording of Claude Code',
    run: () => location.assign('./recording.html'),
  },
];

const actions: readonly Command[] = [
  {
    id: 'new',
    kind: 'action',
    name: 'New session',
    keys: 'c',
    run: () => ui.set({ dialog: { type: 'new_session' } }),
  },
  { id: 'live', kind: 'action', name: 'Back to live', keys: '.', run: goLive },
  { id: 'agent', kind: 'action', name: 'New agent', run: () => ui.go({ view: 'agents', sessionId: 'new' }) },
  { id: 'attention', kind: 'action', name: 'Order by attention', keys: 'o', run: () => ui.set({ sort: 'attention' }) },
  { id: 'tree', kind: 'action', name: 'Order as tree', keys: 'o', run: () => ui.set({ sort: 'tree' }) },
  { id: 'dark', kind: 'action', name: 'Dark theme', run: () => ui.setTheme('dark') },
  { id: 'light', kind: 'action', name: 'Light theme', run: () => ui.setTheme('light') },
  { id: 'system', kind: 'action', name: 'System theme', run: () => ui.setTheme('system') },
  { id: 'demo', kind: 'action', name: 'Start the 25-agent demo', run: () => ui.attempt(openDemo()) },
  {
    id: 'notices',
    kind: 'action',
    name: 'Notifications, quiet hours, undo time',
    run: () => ui.set({ dialog: { type: 'notices' } }),
  },
  {
    id: 'help',
    kind: 'action',
    name: 'Keyboard shortcuts and states',
    keys: '?',
    run: () => ui.set({ dialog: { type: 'help' } }),
  },
  { id: 'logout', kind: 'action', name: 'Sign out', run: () => void signOut() },
];

async function openDemo(): Promise<void> {
  await startDemo();
  ui.go({ view: 'fleet' });
}

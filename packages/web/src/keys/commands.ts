import { cutText } from '@fleetloom/protocol/fleet';
import { openThread } from '../app/actions.ts';
import { fleet, ui } from '../app/stores.ts';
import { startDemo } from '../fleet/start-demo.ts';
import type { ShownRow } from '../model/summary.ts';
import { threadName } from '../model/thread-name.ts';
import { cleanLine } from '../text/clean-text.ts';

export interface Command {
  readonly id: string;
  readonly kind: 'go' | 'do' | 'thread' | 'session';
  readonly name: string;
  readonly keys?: string;
  /** The thread that it leads to, for its state. */
  readonly row?: ShownRow;
  readonly run: () => void;
}

/** What fits, the best first, and not more than one can look through. */
export function findCommands(text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ name, kind }: Command) => words.every((word) => `${kind} ${name}`.toLowerCase().includes(word));
  return allCommands().filter(fits).slice(0, SHOWN);
}

const SHOWN = 12;

function allCommands(): readonly Command[] {
  const threads = fleet.rows().map((row): Command => {
    const name = cutText(cleanLine(`${threadName(row)} — ${row.slot.task ?? row.word}`), 90);
    const id = `thread ${row.sessionId} ${row.key}`;
    return { id, kind: 'thread', name, row, run: () => openThread(row) };
  });
  const sessions = [...fleet.model.sessions.values()].map(({ model }): Command => {
    const name = cleanLine(model.record?.title ?? model.slots.runs.at(-1)?.message ?? model.id);
    return { id: model.id, kind: 'session', name, run: () => openThread({ sessionId: model.id, threadId: null }) };
  });
  return [...fixed, ...threads, ...sessions];
}

const fixed: readonly Command[] = [
  { id: 'fleet', kind: 'go', name: 'Fleet', keys: 'g f', run: () => ui.go({ view: 'fleet' }) },
  { id: 'inbox', kind: 'go', name: 'Inbox', keys: 'g i', run: () => ui.go({ view: 'inbox' }) },
  { id: 'agents', kind: 'go', name: 'Agents: start a session', keys: 'g a', run: () => ui.go({ view: 'agents' }) },
  { id: 'live', kind: 'do', name: 'Back to live', keys: '.', run: () => fleet.replay.toLive() },
  { id: 'attention', kind: 'do', name: 'Order by attention', keys: 'o', run: () => ui.set({ sort: 'attention' }) },
  { id: 'tree', kind: 'do', name: 'Order as a tree', keys: 'o', run: () => ui.set({ sort: 'tree' }) },
  { id: 'dark', kind: 'do', name: 'Dark', run: () => ui.setTheme('dark') },
  { id: 'light', kind: 'do', name: 'Light', run: () => ui.setTheme('light') },
  { id: 'system', kind: 'do', name: 'Dark or light as the system has it', run: () => ui.setTheme('system') },
  {
    id: 'demo',
    kind: 'do',
    name: 'Start the 25-agent demo',
    run: () => void startDemo().catch((error: unknown) => ui.fail(error)),
  },
  {
    id: 'recording',
    kind: 'go',
    name: 'Look at a recording of Claude Code',
    run: () => location.assign('./recording.html'),
  },
  {
    id: 'notices',
    kind: 'do',
    name: 'Notifications, quiet hours, taking back answers',
    run: () => ui.set({ dialog: { type: 'notices' } }),
  },
  { id: 'help', kind: 'do', name: 'Keys and signs', keys: '?', run: () => ui.set({ dialog: { type: 'help' } }) },
  { id: 'logout', kind: 'do', name: 'Sign out', run: () => void signOut() },
];

async function signOut(): Promise<void> {
  await fetch('./logout', { method: 'POST', redirect: 'manual' });
  location.assign('./login');
}

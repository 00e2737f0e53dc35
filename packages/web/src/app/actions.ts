import { toContinueMessage } from '@fleetloom/client';
import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { api } from '../connection/api.ts';
import { isNewestRun } from '../model/inbox-items.ts';
import { states } from '../model/states.ts';
import type { ShownRow } from '../model/summary.ts';
import { fleet, ui } from './stores.ts';

/** Nobody does anything in the past. */
function isPast(): boolean {
  if (fleet.replay.isOn) ui.say('This is a replay. Go back to live first.', true);
  return fleet.replay.isOn;
}

/** Stops these threads; none of them named: all of the session. */
export async function interrupt(sessionId: string, threadIds: readonly string[]): Promise<void> {
  if (isPast()) return;
  const one = { type: 'user.interrupt' } as const;
  try {
    const events = threadIds.length === 0 ? [one] : threadIds.map((id) => ({ ...one, session_thread_id: id }));
    await api.send(sessionId, ...events);
    ui.say(threadIds.length === 1 ? 'Interrupted.' : 'Interrupted all of them.');
  } catch (error) {
    ui.fail(error);
  }
}

/** A thread alone is stopped at once; with those below it, it is asked for. */
export function interruptRow(row: ShownRow, isWithChildren: boolean): void {
  if (row.threadId === null || isPast()) return;
  if (!isWithChildren) return void interrupt(row.sessionId, [row.threadId]);
  const below = fleet.rows().filter(({ sessionId, above }) => sessionId === row.sessionId && above.includes(row.key));
  const threadIds = [row, ...below].flatMap(({ threadId }) => threadId ?? []);
  const what = below.length === 0 ? row.agent : `${row.agent} and ${below.length} below it`;
  ui.set({ dialog: { type: 'interrupt', sessionId: row.sessionId, threadIds, what } });
}

/**
 * Whether the session of a row can be continued: the turn of its coordinator failed, or that of a sub-agent in the newest run while no
 * turn of the coordinator is open, or its events tell of a loss (`isCutOff`), which the fleet stream does not have. Only coordinators can be written to: the message goes to the coordinator in both cases.
 */
export function canContinue(
  row: ContinuedRow,
  rows: readonly ContinuedRow[] = fleet.rows(),
  isCutOff = false,
): boolean {
  if (fleet.replay.isOn) return false;
  const own = rows.filter(({ sessionId }) => sessionId === row.sessionId);
  const coordinator = row.level === 0 ? row : own.find(({ level }) => level === 0);
  if (coordinator === undefined || states[coordinator.state].isOpen) return false;
  if (row.level > 0) return row.state === 'error';
  return row.state === 'error' || isCutOff || own.some((each) => each.state === 'error' && isNewestRun(each));
}

type ContinuedRow = Pick<ShownRow, 'sessionId' | 'level' | 'state' | 'session' | 'slot'>;

/** One message after which the agent goes on. It names the calls that were not carried out. */
export async function continueSession(sessionId: string): Promise<void> {
  if (isPast()) return;
  try {
    const events: SessionEvent[] = [];
    for await (const event of api.list<SessionEvent>(`v1/sessions/${sessionId}/events?order=desc&limit=100`)) {
      events.push(event);
      if (event.type === 'user.message') break;
    }
    const text = toContinueMessage(events.toReversed());
    await api.send(sessionId, { type: 'user.message', content: [{ type: 'text', text }] });
    ui.say('Continued.');
  } catch (error) {
    ui.fail(error);
  }
}

export function openThread(row: Pick<ShownRow, 'sessionId' | 'threadId'>): void {
  ui.go({ view: 'thread', sessionId: row.sessionId, threadId: row.threadId ?? undefined });
}

/** To that thread, whoever coordinates it. */
export function writeTo(row: ShownRow): void {
  if (isPast()) return;
  const { sessionId, agent, level, threadId } = row;
  ui.set({ dialog: { type: 'message', sessionId, threadId: level === 0 ? null : threadId, agent } });
}

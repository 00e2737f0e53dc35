import { toContinueMessage } from '@fleetloom/client';
import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { api } from './connection/api.ts';
import { isNewestRun } from '../model/inbox-items.ts';
import { states } from '@fleetloom/protocol/fleet';
import type { ShownRow } from '../model/summary.ts';
import { fleet, ui } from './stores.ts';

/** Whether a replay is shown, in which nothing can be changed. If so, shows a notice. */
export function refuseInReplay(): boolean {
  if (fleet.replay.isOn) ui.notify('This is a replay. Go back to live first.', true);
  return fleet.replay.isOn;
}

/** Ends a replay, and lets the lanes follow the present. */
export function goLive(): void {
  if (fleet.replay.isOn) fleet.replay.toLive();
  ui.set({ windowEnd: undefined });
}

/** Interrupts these threads; with an empty list, the whole session. */
export async function interrupt(sessionId: string, threadIds: readonly string[]): Promise<void> {
  if (refuseInReplay()) return;
  const one = { type: 'user.interrupt' } as const;
  try {
    const events = threadIds.length === 0 ? [one] : threadIds.map((id) => ({ ...one, session_thread_id: id }));
    await api.send(sessionId, ...events);
    ui.notify(threadIds.length === 1 ? 'Interrupted.' : 'All interrupted.');
  } catch (error) {
    ui.notifyError(error);
  }
}

/** Asks whether to interrupt a thread, alone or with the threads below it. */
export function interruptRow(row: ShownRow, isWithChildren: boolean): void {
  if (row.threadId === null || refuseInReplay()) return;
  if (!isWithChildren) {
    const dialog = { type: 'interrupt', sessionId: row.sessionId, threadIds: [row.threadId], what: row.agent } as const;
    return ui.set({ dialog });
  }
  const below = fleet.rows().filter(({ sessionId, above }) => sessionId === row.sessionId && above.includes(row.key));
  const threadIds = [row, ...below].flatMap(({ threadId }) => threadId ?? []);
  const what = below.length === 0 ? row.agent : `${row.agent} and ${below.length} below it`;
  ui.set({ dialog: { type: 'interrupt', sessionId: row.sessionId, threadIds, what } });
}

/**
 * Whether the session of a row can be continued: the coordinator's turn failed, or a sub-agent's turn failed in the newest run while
 * the coordinator has no open turn, or the fleet stream or the session's events (`isCutOff`) report lost work.
 * The message goes to the coordinator in every case.
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
  if (row.session.slots.errors.length > 0) return true;
  return row.state === 'error' || isCutOff || own.some((each) => each.state === 'error' && isNewestRun(each));
}

type ContinuedRow = Pick<ShownRow, 'sessionId' | 'level' | 'state' | 'session' | 'slot'>;

/** Sends a message that makes the agent continue. The message names the calls that did not run. */
export async function continueSession(sessionId: string): Promise<void> {
  if (refuseInReplay()) return;
  try {
    const events: SessionEvent[] = [];
    for await (const event of api.list<SessionEvent>(`v1/sessions/${sessionId}/events?order=desc&limit=100`)) {
      events.push(event);
      if (event.type === 'user.message') break;
    }
    const text = toContinueMessage(events.toReversed());
    await api.send(sessionId, { type: 'user.message', content: [{ type: 'text', text }] });
    ui.notify('Continued.');
  } catch (error) {
    ui.notifyError(error);
  }
}

/** Opens the page of a thread. */
export function openThread(row: Pick<ShownRow, 'sessionId' | 'threadId'>): void {
  ui.go({ view: 'session', sessionId: row.sessionId, threadId: row.threadId ?? undefined });
}

/** Opens the dialog for a message to this thread. */
export function writeTo(row: ShownRow): void {
  if (refuseInReplay()) return;
  const { sessionId, agent, level, threadId } = row;
  ui.set({ dialog: { type: 'message', sessionId, threadId: level === 0 ? null : threadId, agent } });
}

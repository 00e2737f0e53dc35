import { toContinueMessage } from '@fleetloom/client';
import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { api } from '../connection/api.ts';
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

/** Whether the last turn of a session failed, so that it can be continued. Only coordinators can be written to. */
export function canContinue({ level, state }: Pick<ShownRow, 'level' | 'state'>): boolean {
  return level === 0 && state === 'error' && !fleet.replay.isOn;
}

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

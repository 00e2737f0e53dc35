import { useEffect, useMemo, useState } from 'react';
import type { ShownRow } from '../model/summary.ts';
import { ThreadEvents } from './thread-events.ts';

/** What happened in a thread; read again when there may be something new. */
export function useThreadEvents(row: ShownRow | undefined): ThreadEvents | undefined {
  const [sessionId, threadId, mark] = [row?.sessionId, row?.threadId ?? undefined, toMark(row)];
  const events = useMemo(
    () => (sessionId === undefined || threadId === undefined ? undefined : new ThreadEvents(sessionId, threadId)),
    [sessionId, threadId],
  );
  const [, draw] = useState(0);
  useEffect(() => events?.changed.subscribe(() => draw((count) => count + 1)), [events]);
  useEffect(() => {
    // Several things happen at once: one look is enough.
    const timer = setTimeout(() => void events?.refresh(), events?.isRead === true ? REFRESH_MS : 0);
    return () => clearTimeout(timer);
  }, [events, mark]);
  return events;
}

const REFRESH_MS = 250;

/** What changes when something new is in the list of events: not with every word. */
function toMark(row: ShownRow | undefined): string {
  if (row === undefined) return '';
  const { slot, turns, approvals } = row;
  const ended = slot.tools.filter(({ state }) => state !== 'running').length;
  return [
    turns,
    slot.iteration,
    slot.toolsStarted,
    ended,
    slot.state,
    slot.usage.requests,
    approvals.length,
    slot.phase,
  ].join();
}

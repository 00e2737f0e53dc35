import { useEffect, useMemo, useState } from 'react';
import type { ShownRow } from '../../model/summary.ts';
import { ThreadEvents } from './thread-events.ts';

/** The events of a thread, loaded again when its row suggests new ones. */
export function useThreadEvents(row: ShownRow | undefined): ThreadEvents | undefined {
  const [sessionId, threadId, mark] = [row?.sessionId, row?.threadId ?? undefined, toMark(row)];
  const events = useMemo(
    () => (sessionId === undefined || threadId === undefined ? undefined : new ThreadEvents(sessionId, threadId)),
    [sessionId, threadId],
  );
  const [, draw] = useState(0);
  useEffect(() => events?.changed.subscribe(() => draw((count) => count + 1)), [events]);
  useEffect(() => {
    // Several changes within REFRESH_MS need one request.
    const timer = setTimeout(() => void events?.refresh(), events?.isRead === true ? REFRESH_MS : 0);
    return () => clearTimeout(timer);
  }, [events, mark]);
  return events;
}

const REFRESH_MS = 250;

/** A text that changes when the list has new events, but not with every text delta. */
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

import { useEffect, useMemo, useState } from 'react';
import { useSignal } from '../app/signal.ts';
import { fleet } from '../app/stores.ts';
import type { Route } from '../app/ui-store.ts';
import { Inspector } from './Inspector.tsx';
import { Scrubber } from './Scrubber.tsx';
import { ThreadEvents } from './thread-events.ts';
import { ThreadHead } from './ThreadHead.tsx';
import { ThreadTree } from './ThreadTree.tsx';
import { Transcript } from './Transcript.tsx';
import { threadPage } from './thread-page.ts';

/** View 3: what happened, exactly. */
export function ThreadView({ route }: { route: Route }) {
  useSignal(fleet.changed);
  useSignal(threadPage.changed);
  const shown = fleet.shown();
  const current =
    shown.find(({ session }) => session.id === route.sessionId) ??
    (route.sessionId === undefined ? shown[0] : undefined);
  const row = current?.rows.find(({ threadId }) => threadId === route.threadId) ?? current?.rows[0];
  const sessionId = route.sessionId;
  useEffect(() => {
    if (sessionId !== undefined) fleet.load(sessionId);
  }, [sessionId]);
  const threadId = row?.threadId ?? undefined;
  const events = useThreadEvents(current?.session.id, threadId, toMark(row));
  useEffect(() => threadPage.show(row, events), [row?.key, events]);
  const isRead = events?.isRead === true;
  useEffect(() => {
    if (isRead && route.eventId !== undefined) threadPage.select(route.eventId);
  }, [isRead, route.eventId]);
  if (current === undefined || row === undefined) {
    return (
      <section className="nothing" aria-label="Thread">
        <h1>{sessionId === undefined ? 'No thread yet' : 'Reading …'}</h1>
        <p className="quiet">
          Open one from the <a href="#/fleet">fleet</a>: what it was asked, what it thought, said and did, and how it
          came to it.
        </p>
      </section>
    );
  }
  return (
    <div className="thread-page" data-inspector={threadPage.isInspectorOpen}>
      <ThreadTree shown={current} selectedKey={row.key} />
      <section className="thread-centre" aria-label={`Thread of ${row.agent}`}>
        <ThreadHead row={row} />
        <Transcript key={`${current.session.id} ${row.key}`} row={row} events={events} />
      </section>
      {threadPage.isInspectorOpen && <Inspector row={row} events={events} />}
      <Scrubber session={current.session} />
    </div>
  );
}

/** What changes when something new is in the list of events: not with every word. */
function toMark(row: ReturnType<typeof fleet.rows>[number] | undefined): string {
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

function useThreadEvents(
  sessionId: string | undefined,
  threadId: string | undefined,
  mark: string,
): ThreadEvents | undefined {
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

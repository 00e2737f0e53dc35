import { useEffect } from 'react';
import { useSignal } from '../app/signal.ts';
import { fleet } from '../app/stores.ts';
import type { Route } from '../app/ui-store.ts';
import { Beside } from './Beside.tsx';
import { Inspector } from './Inspector.tsx';
import { Scrubber } from './Scrubber.tsx';
import { ThreadHead } from './ThreadHead.tsx';
import { ThreadTree } from './ThreadTree.tsx';
import { Transcript } from './Transcript.tsx';
import { threadPage } from './thread-page.ts';
import { useThreadEvents } from './use-thread-events.ts';

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
  const events = useThreadEvents(row);
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
  const isSplit = route.beside !== undefined;
  const isInspected = threadPage.isInspectorOpen && !isSplit;
  return (
    <div className="thread-page" data-inspector={isInspected} data-split={isSplit}>
      <ThreadTree shown={current} selectedKey={row.key} />
      <section className="thread-centre" aria-label={`Thread of ${row.agent}`} hidden={isSplit && route.isCompared}>
        <ThreadHead row={row} isCutOff={events?.isCutOff === true} />
        <Transcript key={`${current.session.id} ${row.key}`} row={row} events={events} />
      </section>
      {isSplit && <Beside route={route} row={row} events={events} />}
      {isInspected && <Inspector row={row} events={events} />}
      <Scrubber session={current.session} />
    </div>
  );
}

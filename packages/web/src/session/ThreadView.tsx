import { useEffect } from 'react';
import { useSignal } from '../stores/signal.ts';
import { fleet, ui } from '../stores/stores.ts';
import type { Route } from '../stores/ui-store.ts';
import { ChangesTab } from './changes/ChangesTab.tsx';
import { ConnectionsTab } from './connections/ConnectionsTab.tsx';
import { Beside } from './compare/Beside.tsx';
import { Inspector } from './inspector/Inspector.tsx';
import { Scrubber } from './replay/Scrubber.tsx';
import { NoThread } from './NoThread.tsx';
import { PendingCall } from './PendingCall.tsx';
import { SessionBar } from './SessionBar.tsx';
import { SessionBrief } from './SessionBrief.tsx';
import { ThreadHead } from './ThreadHead.tsx';
import { ThreadTree } from './ThreadTree.tsx';
import { Transcript } from './transcript/Transcript.tsx';
import { threadPage } from './transcript/thread-page.ts';
import { useThreadEvents } from './transcript/use-thread-events.ts';

/** One thread of a session: tree of threads, transcript, inspector, scrubber. */
export function ThreadView({ route }: { route: Route }) {
  useSignal(fleet.changed);
  useSignal(threadPage.changed);
  const shown = fleet.shown();
  const { sessionId, threadId } = route;
  const current = shown.find(({ session }) => session.id === sessionId);
  // If the thread of a link is not known (yet), no other thread is shown instead.
  const row = isNamed(threadId) ? current?.rows.find((one) => one.threadId === threadId) : current?.rows[0];
  useEffect(() => {
    if (sessionId !== undefined) fleet.lookUp(sessionId);
  }, [sessionId]);
  const [newest] = shown;
  useEffect(() => {
    // Without a session in the address, the newest session is opened once; later sessions do not replace it.
    if (sessionId === undefined && newest !== undefined) ui.replace({ ...route, sessionId: newest.session.id });
  }, [sessionId, newest]);
  const events = useThreadEvents(row);
  useEffect(() => threadPage.show(row, events), [row?.key, events]);
  const isRead = events?.isRead === true;
  useEffect(() => {
    if (isRead && route.eventId !== undefined) threadPage.select(route.eventId);
  }, [isRead, route.eventId]);
  // Before the first turn, a session has no thread.
  if (current !== undefined && row === undefined && route.tab === 'changes')
    return (
      <section className="changes-alone" aria-label="Changes">
        <h1 className="hidden-text">Changes</h1>
        <ChangesTab shown={current} />
      </section>
    );
  if (current === undefined || row === undefined) return <NoThread route={route} />;
  const isSplit = route.beside !== undefined;
  const isChanges = route.tab === 'changes' && !isSplit;
  const isConnections = route.tab === 'connections' && !isSplit;
  const isInTab = isChanges || isConnections;
  const isInspected = threadPage.isInspectorOpen && !isSplit && !isInTab;
  return (
    <div className="thread-page" data-inspector={isInspected} data-split={isSplit} data-tab={isInTab}>
      <ThreadTree shown={current} selectedKey={row.key} />
      <section className="thread-centre" aria-label={`Thread of ${row.agent}`} hidden={isSplit && route.isCompared}>
        <div>
          <SessionBrief shown={current} row={row} blocks={events?.blocks ?? []} />
          <ThreadHead row={row} isCutOff={events?.isCutOff === true} />
          <SessionBar shown={current} row={row} route={route} />
          {!isInTab && <PendingCall shown={current} row={row} />}
        </div>
        {isChanges ? (
          <ChangesTab shown={current} />
        ) : isConnections ? (
          <ConnectionsTab sessionId={current.session.id} />
        ) : (
          <Transcript key={`${current.session.id} ${row.key}`} row={row} events={events} />
        )}
      </section>
      {isSplit && <Beside route={route} row={row} events={events} />}
      {isInspected && <Inspector row={row} events={events} />}
      <Scrubber session={current.session} />
    </div>
  );
}

/** Whether a link names a thread; a link with an empty thread name leads to the coordinator. */
function isNamed(threadId: string | undefined): boolean {
  return threadId !== undefined && threadId !== '';
}

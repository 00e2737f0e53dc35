import { fleet } from '../stores/stores.ts';
import type { Route } from '../stores/ui-store.ts';
import { NotFound } from '../ui/NotFound.tsx';

/** The page without a thread: the thread is loading or does not exist, or no session was chosen. */
export function NoThread({ route: { sessionId, threadId } }: { route: Route }) {
  if (sessionId === undefined) {
    return (
      <section className="nothing" aria-label="Session">
        <h1>{fleet.isListed ? 'No session yet' : 'Loading …'}</h1>
        <p className="quiet">
          Open one from the <a href="#/sessions">sessions</a>, or press <kbd>c</kbd> to start one.
        </p>
      </section>
    );
  }
  const known = fleet.model.sessions.get(sessionId);
  const lookup = fleet.lookups.get(sessionId);
  if (lookup === 'missing')
    return <NotFound what="session" name={sessionId} hint="It was deleted, or the link is from another server." />;
  if (lookup === 'failed') {
    return (
      <section className="nothing" aria-label="Thread" role="alert">
        <h1>The session could not be read</h1>
        <p className="quiet">Check that the server is running. Its agents keep running without this page.</p>
        <button type="button" className="primary" onClick={() => fleet.lookUp(sessionId)}>
          Try again
        </button>
      </section>
    );
  }
  const isLoaded = known?.load === 'loaded' && lookup === 'found';
  const hasThreads = fleet.shown().some(({ session, rows }) => session.id === sessionId && rows.length > 0);
  if (isLoaded && hasThreads && threadId !== undefined)
    return (
      <NotFound what="thread" name={threadId} hint="The session has no thread with this id at the moment shown." />
    );
  return (
    <section className="nothing" aria-label="Thread">
      <h1>{isLoaded ? 'The session has not run yet' : 'Loading …'}</h1>
      <p className="quiet">
        {isLoaded ? 'Its first message starts the agent.' : 'The transcript appears as soon as the server has sent it.'}{' '}
        <a href="#/sessions">All sessions</a>
      </p>
    </section>
  );
}

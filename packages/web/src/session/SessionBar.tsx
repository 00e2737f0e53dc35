import { hasWorkspace } from '../model/has-workspace.ts';
import { plural } from '../model/format.ts';
import { nameOfSession } from '../model/name-of-session.ts';
import type { ShownRow } from '../model/summary.ts';
import type { ShownSession } from '../stores/fleet-store.ts';
import { type Route, toHash } from '../stores/ui-store.ts';
import { copyLink, exportSession, forkSession, toggleBeside } from './session-commands.ts';
import { threadPage } from './transcript/thread-page.ts';

interface SessionBarProps {
  readonly shown: ShownSession;
  readonly row: ShownRow;
  readonly route: Route;
}

/** Switches between transcript, changes and connections, opens the threads on a phone, and has a button for each action on the session. */
export function SessionBar({ shown, row, route }: SessionBarProps) {
  const isSplit = route.beside !== undefined;
  const isCompared = isSplit && route.isCompared === true;
  const here = { view: 'session', sessionId: row.sessionId, threadId: row.threadId ?? undefined };
  return (
    <div className="session-bar">
      <button
        type="button"
        className="tree-button"
        aria-expanded={threadPage.isTreeOpen}
        onClick={() => threadPage.toggleTree()}
      >
        ☰ <b>{nameOfSession(shown.session)}</b> · {plural(shown.rows.length, 'thread')}
      </button>
      {!isSplit && (
        <nav className="session-tabs" aria-label="Session">
          <a href={toHash(here)} aria-current={route.tab === undefined ? 'page' : undefined}>
            Transcript
          </a>
          {hasWorkspace(shown.session) && (
            <a href={toHash({ ...here, tab: 'changes' })} aria-current={route.tab === 'changes' ? 'page' : undefined}>
              Changes <kbd>d</kbd>
            </a>
          )}
          <a
            href={toHash({ ...here, tab: 'connections' })}
            aria-current={route.tab === 'connections' ? 'page' : undefined}
          >
            Connections
          </a>
        </nav>
      )}
      <div className="session-commands" role="toolbar" aria-label="Actions on this session">
        <button data-needs="run" type="button" onClick={() => forkSession(row)}>
          Fork <kbd>f</kbd>
        </button>
        <button type="button" aria-pressed={isSplit && !isCompared} onClick={() => toggleBeside(row, false)}>
          Split <kbd>|</kbd>
        </button>
        <button type="button" aria-pressed={isCompared} onClick={() => toggleBeside(row, true)}>
          Compare <kbd>C</kbd>
        </button>
        <button type="button" onClick={() => exportSession(row)}>
          Export <kbd>e</kbd>
        </button>
        <button type="button" onClick={() => copyLink(row)}>
          Share <kbd>y</kbd>
        </button>
      </div>
    </div>
  );
}

import { hasExamplePrice } from '@fleetloom/protocol/fleet';
import { useState } from 'react';
import { hasWorkspace } from '../model/has-workspace.ts';
import { plural } from '../model/format.ts';
import { threadName } from '../model/thread-name.ts';
import { inbox } from '../stores/inbox-store.ts';
import { useSignal } from '../stores/signal.ts';
import { fleet, ui } from '../stores/stores.ts';

/** One line about the newest demo: its current activity, and the next thing to click. */
export function DemoLine() {
  useSignal(fleet.changed);
  const [isHidden, setHidden] = useState(() => localStorage.getItem(HIDDEN) !== null);
  const [newest] = fleet.shown();
  if (isHidden || newest === undefined || fleet.replay.isOn) return null;
  const { session, rows } = newest;
  if (!hasExamplePrice(session.record?.agent.model.id ?? '') || rows.length === 0) return null;
  const item = fleet.pendingItems().find((one) => one.session.id === session.id);
  const isOver = newest.slots.runs.at(-1)?.state !== 'running' && item === undefined;
  const hasAsked = newest.slots.runs.some(({ approvals }) => approvals.length > 0);
  const hasResult = isOver || rows.some(({ slot }) => slot.filesWritten > 0);
  return (
    <aside className="demo-line" aria-label="About the demo">
      <p className="demo-text">
        <b>Demo.</b>{' '}
        <span className="demo-about">
          {isOver
            ? 'The agents are done. See what came out of it, then start your own session.'
            : `${plural(rows.length, 'scripted agent')} prepare${rows.length === 1 ? 's' : ''} a release of a sample project on this machine. They need no key, and their costs are examples. `}
        </span>
        {!isOver && !hasAsked && 'One of them will ask for your approval.'}
        {item !== undefined && (
          <b>
            {threadName(item.row)} needs your approval of {item.tool === 'bash' ? 'a command' : 'an edit'}.
          </b>
        )}
      </p>
      {item !== undefined && ui.route.view !== 'inbox' && (
        <button
          type="button"
          className="primary"
          onClick={() => {
            inbox.select(item.id);
            ui.go({ view: 'inbox' });
          }}
        >
          Look and decide
        </button>
      )}
      {item === undefined && hasResult && (
        <button
          type="button"
          className={isOver ? 'primary' : undefined}
          onClick={() =>
            ui.go({ view: 'session', sessionId: session.id, tab: hasWorkspace(session) ? 'changes' : undefined })
          }
        >
          What came out
        </button>
      )}
      {isOver && (
        <button type="button" onClick={() => ui.set({ dialog: { type: 'new_session' } })}>
          New session
        </button>
      )}
      <button
        type="button"
        className="icon"
        aria-label="Hide this line about the demo"
        onClick={() => {
          localStorage.setItem(HIDDEN, '1');
          setHidden(true);
        }}
      >
        ×
      </button>
    </aside>
  );
}

const HIDDEN = 'fleetloom.demo-line-hidden';

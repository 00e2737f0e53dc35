import { cleanLine, cleanText } from '@fleetloom/protocol/text';
import { useState } from 'react';
import { type InboxItem } from '../model/inbox-items.ts';
import { riskHints } from '../model/risk-hints.ts';
import type { ShownRow } from '../model/summary.ts';
import { threadName } from '../model/thread-name.ts';
import { refuseInReplay } from '../stores/actions.ts';
import { decisions } from '../stores/decisions.ts';
import { useDraft } from '../stores/drafts.ts';
import type { ShownSession } from '../stores/fleet-store.ts';
import { inbox } from '../stores/inbox-store.ts';
import { useSignal } from '../stores/signal.ts';
import { fleet, ui } from '../stores/stores.ts';
import { ToolInput } from '../ui/text/ToolInput.tsx';

/** A tool call of this session that waits for a person, with its whole input. Calls of the shown thread come first. */
export function PendingCall({ shown, row }: { shown: ShownSession; row: ShownRow }) {
  useSignal(decisions.changed);
  if (fleet.replay.isOn) return null;
  const items = fleet.pendingItems().filter(({ session }) => session.id === shown.session.id);
  const item = items.find((one) => one.row.key === row.key) ?? items[0];
  if (item === undefined) return null;
  return (
    <section className="pending-call" aria-label="Needs you">
      <p>
        <b data-ink="needs">! {threadName(item.row)} needs you</b> <code>{cleanLine(item.tool)}</code>{' '}
        {items.length > 1 && <span className="quiet">1 of {items.length} in this session</span>}
      </p>
      <div className="pending-input">
        <ToolInput input={item.input} />
      </div>
      {item.why !== '' && <p className="quiet one-line">stated reason: {cleanText(item.why)}</p>}
      <Actions key={item.id} item={item} />
    </section>
  );
}

function Actions({ item }: { item: InboxItem }) {
  const [isDenying, setDenying] = useState(false);
  const reason = useDraft(`deny ${item.id}`);
  const decision = decisions.find(item.id);
  if (decision !== undefined && decision.state !== 'failed') {
    return (
      <p className="card-actions">
        <b>{decision.verdict === 'deny' ? 'Denied' : 'Approved'}</b>
        {decision.state === 'pending' && (
          <button type="button" onClick={() => decisions.undo(item.id)}>
            Undo
          </button>
        )}
      </p>
    );
  }
  const decide = (verdict: 'allow' | 'deny') => {
    if (refuseInReplay()) return;
    decisions.decide(item, verdict, verdict === 'deny' ? reason.text.trim() : '');
    reason.clear();
  };
  // The inbox asks twice before a severe call, and has the forms for plans and questions.
  const isSimple =
    item.kind === 'approval' && item.plan === null && !riskHints(item.tool, item.input).some(({ isGrave }) => isGrave);
  return (
    <form
      className="card-actions"
      onSubmit={(event) => {
        event.preventDefault();
        decide('deny');
      }}
    >
      {decision?.state === 'failed' && <span className="fault">{decision.problem}</span>}
      {isDenying && (
        <input
          autoFocus
          aria-label="Reason (sent to the agent)"
          placeholder="Reason (sent to the agent)"
          value={reason.text}
          onChange={(event) => reason.set(event.target.value)}
        />
      )}
      {isSimple && !isDenying && (
        <>
          <button type="button" className="primary" onClick={() => decide('allow')}>
            Approve once
          </button>
          <button type="button" onClick={() => setDenying(true)}>
            Deny …
          </button>
        </>
      )}
      {isDenying && (
        <>
          <button type="submit" className="danger">
            Deny
          </button>
          <button type="button" onClick={() => setDenying(false)}>
            Cancel
          </button>
        </>
      )}
      <button
        type="button"
        className={isSimple ? undefined : 'primary'}
        onClick={() => {
          inbox.select(item.id);
          ui.go({ view: 'inbox' });
        }}
      >
        {isSimple ? 'More choices' : 'Answer'} <kbd>n</kbd>
      </button>
    </form>
  );
}

import { useHealth } from '../app/health.ts';
import { useSignal } from '../app/signal.ts';
import { fleet, ui } from '../app/stores.ts';
import { decisions } from './decisions.ts';
import { EmptyInbox } from './EmptyInbox.tsx';
import { InboxCard } from './InboxCard.tsx';
import { InboxList } from './InboxList.tsx';
import { inbox } from './inbox-state.ts';
import { RecentDecisions } from './RecentDecisions.tsx';

/** View 2: what needs me, in which order. */
export function InboxView() {
  useSignal(fleet.changed);
  useSignal(ui.changed);
  useSignal(decisions.changed);
  useSignal(inbox.changed);
  const items = inbox.items();
  useHealth(items.flatMap(({ kind, session }) => (kind === 'stall' ? [session.id] : [])));
  const selected = inbox.selected();
  if (selected === undefined) {
    return (
      <div className="inbox-empty">
        <EmptyInbox />
        <RecentDecisions />
      </div>
    );
  }
  return (
    <div className="inbox">
      <h1 className="hidden-text">Inbox</h1>
      <InboxList items={items} selectedId={selected.id} />
      <div className="inbox-main">
        <InboxCard key={selected.id} item={selected} />
        <RecentDecisions />
      </div>
    </div>
  );
}

import { useHealth } from '../stores/health.ts';
import { useSignal } from '../stores/signal.ts';
import { fleet, sessionCounts, ui } from '../stores/stores.ts';
import { plural } from '../model/format.ts';
import { decisions } from '../stores/decisions.ts';
import { EmptyInbox } from './EmptyInbox.tsx';
import { InboxCard } from './InboxCard.tsx';
import { InboxList } from './InboxList.tsx';
import { inbox } from '../stores/inbox-store.ts';
import { RecentDecisions } from './RecentDecisions.tsx';
import { RuleList } from './RuleList.tsx';

/** The list of items that need the user, the selected item, and recent decisions. */
export function InboxView() {
  useSignal(fleet.changed);
  useSignal(ui.changed);
  useSignal(decisions.changed);
  useSignal(inbox.changed);
  useSignal(sessionCounts.changed);
  const items = inbox.items();
  useHealth(items.flatMap(({ kind, session }) => (kind === 'stall' ? [session.id] : [])));
  const selected = inbox.selected();
  const waiting = sessionCounts.value?.needs_you;
  if (selected === undefined && !fleet.replay.isOn && (!fleet.isListed || waiting === undefined || waiting > 0)) {
    return (
      <section className="nothing" aria-label="Inbox">
        <h1>{waiting === undefined || waiting === 0 ? 'Loading …' : `${plural(waiting, 'session')} need you`}</h1>
        <p className="quiet">Their approvals and questions appear here as soon as the server has sent them.</p>
        <p>
          <a href="#/sessions?status=needs_you">Show these sessions</a>
        </p>
      </section>
    );
  }
  if (selected === undefined) {
    return (
      <div className="inbox-empty">
        <EmptyInbox />
        <RuleList />
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
        <RuleList />
        <RecentDecisions />
      </div>
    </div>
  );
}

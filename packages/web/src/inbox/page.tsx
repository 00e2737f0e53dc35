import './inbox.css';
import { inbox } from '../stores/inbox-store.ts';
import { fleet, ui } from '../stores/stores.ts';
import type { Page } from '../ui/page.ts';
import { InboxView } from './InboxView.tsx';
import { inboxKeys } from './keys.ts';

/** Approvals, questions, failures and stalls that wait for a person, the most urgent first. */
export const inboxPage: Page = {
  view: 'inbox',
  name: 'Inbox',
  shortcut: 'i',
  render: () => <InboxView />,
  open: () => {
    inbox.sort();
    ui.go({ view: 'inbox' });
  },
  count: () => fleet.pendingItems().length,
  keys: inboxKeys,
  help: [
    ['a', 'approve once'],
    ['d', 'deny, with a reason'],
    ['A', 'approve this input in this session'],
    ['w', 'always allow calls like this one: create a rule'],
    ['r', 'answer'],
    ['Space', 'select several'],
    ['z', 'undo'],
    ['x', 'interrupt the thread'],
    ['Enter', 'open the thread'],
    ['Esc', 'back to the sessions or the fleet'],
    ['e', 'edit the input and approve; for failures: dismiss'],
  ],
};

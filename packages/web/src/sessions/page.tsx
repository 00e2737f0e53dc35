import './sessions.css';
import type { Page } from '../ui/page.ts';
import { sessionsKeys } from './keys.ts';
import { SessionsView } from './SessionsView.tsx';

/** The Sessions page: all sessions with search, filters, order, and actions on several sessions. */
export const sessionsPage: Page = {
  view: 'sessions',
  name: 'Sessions',
  shortcut: 's',
  render: ({ search }) => <SessionsView search={search ?? ''} />,
  keys: sessionsKeys,
  help: [
    ['j  k', 'down, up'],
    ['Enter', 'open the session'],
    ['Space', 'select the session'],
    ['r', 'rename the session'],
    ['x', 'cancel the selected sessions'],
    ['e', 'archive the selected sessions'],
    ['Delete', 'delete the selected sessions'],
    ['/', 'search sessions'],
    ['Esc', 'clear the selection, then the filters'],
  ],
};

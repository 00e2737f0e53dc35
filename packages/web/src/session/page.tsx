import './session.css';
import { openThread } from '../stores/actions.ts';
import { selectedRow } from '../stores/selected-row.ts';
import { fleet, ui } from '../stores/stores.ts';
import type { Page } from '../ui/page.ts';
import { sessionKeys } from './keys.ts';
import { ThreadView } from './ThreadView.tsx';

/** The Session page: one session, thread by thread, with transcript, inspector and replay. */
export const sessionPage: Page = {
  view: 'session',
  name: 'Session',
  shortcut: 't',
  render: (route) => <ThreadView route={route} />,
  open: () => {
    const row = selectedRow() ?? fleet.rows()[0];
    if (row === undefined) ui.go({ view: 'session' });
    else openThread(row);
  },
  keys: sessionKeys,
  help: [
    ['j  k', 'next, previous block or changed file'],
    ['Enter', 'expand or fold the selected block'],
    ['d', 'changed files, or the transcript'],
    ['u', 'diff: unified or side by side'],
    ['a', 'apply the changes'],
    ['i', 'inspector'],
    ['/', 'find in the session'],
    ['Space', 'play, pause'],
    ['[  ]', 'one event back, forward'],
    ['{  }', 'one turn back, forward'],
    ['f', 'fork here, or run again with changes'],
    ['|', 'another thread beside this one'],
    ['C', 'compare the two'],
    ['y', 'copy a link to this place'],
    ['e', 'export the session'],
    ['s', 'send a message'],
    ['x', 'interrupt the thread'],
    ['X', 'interrupt the thread and all threads below'],
    ['Esc', 'back to the sessions or the fleet (from a transcript)'],
  ],
};

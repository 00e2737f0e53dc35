import './people.css';
import { ui } from '../stores/stores.ts';
import type { Page } from '../ui/page.ts';
import { PeopleView } from './PeopleView.tsx';

/** The People page: the browsers that are signed in. */
export const peoplePage: Page = {
  view: 'people',
  name: 'People',
  commandName: 'People: signed-in browsers, login links',
  under: 'settings',
  needs: 'admin',
  shortcut: 'p',
  render: () => <PeopleView />,
  keys: { Escape: () => ui.back() },
  help: [['Esc', 'back to the sessions or the fleet']],
};

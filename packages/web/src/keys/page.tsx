import './keys.css';
import { ui } from '../stores/stores.ts';
import type { Page } from '../ui/page.ts';
import { KeysView } from './KeysView.tsx';

/** The Keys page: the API keys of the workspace. */
export const keysPage: Page = {
  view: 'keys',
  name: 'Keys',
  commandName: 'Keys of the API: create, rotate, revoke',
  under: 'settings',
  needs: 'admin',
  shortcut: 'k',
  render: () => <KeysView />,
  keys: { Escape: () => ui.back() },
  help: [['Esc', 'back to the sessions or the fleet']],
};

import './settings.css';
import { ui } from '../stores/stores.ts';
import type { Page } from '../ui/page.ts';
import { SettingsView } from './SettingsView.tsx';

/** The Settings page: the caller, the settings of this browser, and the configuration of the server. */
export const settingsPage: Page = {
  view: 'settings',
  name: 'Settings',
  commandName: 'Settings: keys, devices, engines, webhooks, notifications, theme',
  shortcut: ',',
  render: () => <SettingsView />,
  keys: { Escape: () => ui.back() },
  help: [['Esc', 'back to the sessions or the fleet']],
};

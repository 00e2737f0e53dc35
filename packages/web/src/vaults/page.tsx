import './vaults.css';
import { ui } from '../stores/stores.ts';
import type { Page } from '../ui/page.ts';
import { VaultsView } from './VaultsView.tsx';

/** The Vaults page: secrets for MCP servers and commands, which agents never see. */
export const vaultsPage: Page = {
  view: 'vaults',
  name: 'Vaults',
  commandName: 'Vaults: tokens for MCP servers',
  under: 'settings',

  shortcut: 'v',
  render: ({ sessionId }) => <VaultsView selectedId={sessionId} />,
  keys: { Escape: () => ui.back() },
  help: [['Esc', 'back to the sessions or the fleet']],
};

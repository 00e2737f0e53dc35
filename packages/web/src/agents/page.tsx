import './agents.css';
import { ui } from '../stores/stores.ts';
import type { Page } from '../ui/page.ts';
import { AgentsView } from './AgentsView.tsx';

/** The stored agents, to edit and to start sessions from. */
export const agentsPage: Page = {
  view: 'agents',
  name: 'Agents',
  commandName: 'Agents: start a session',
  shortcut: 'a',
  render: ({ sessionId }) => <AgentsView selectedId={sessionId} />,
  keys: { Escape: () => ui.back() },
  help: [['Esc', 'back to the sessions or the fleet']],
};

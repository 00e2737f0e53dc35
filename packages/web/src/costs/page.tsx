import './costs.css';
import { ui } from '../stores/stores.ts';
import type { Page } from '../ui/page.ts';
import { CostsView } from './CostsView.tsx';

/** The Costs page: costs of sessions by day, agent, model and session, and the budgets that were reached. */
export const costsPage: Page = {
  view: 'costs',
  name: 'Costs',
  shortcut: 'c',
  render: ({ search }) => <CostsView search={search ?? ''} />,
  keys: { Escape: () => ui.back() },
  help: [['Esc', 'back to the sessions or the fleet']],
};

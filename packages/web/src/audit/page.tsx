import './audit.css';
import { ui } from '../stores/stores.ts';
import type { Page } from '../ui/page.ts';
import { AuditView } from './AuditView.tsx';

/** The Audit page: the actions of people and programs in the workspace. */
export const auditPage: Page = {
  view: 'audit',
  name: 'Audit',
  commandName: 'Audit log: find, verify, export',
  under: 'settings',
  needs: 'admin',
  shortcut: 'u',
  render: ({ search }) => <AuditView search={search ?? ''} />,
  keys: { Escape: () => ui.back() },
  help: [['Esc', 'back to the sessions or the fleet']],
};

import { agentsPage } from '../agents/page.tsx';
import { auditPage } from '../audit/page.tsx';
import { costsPage } from '../costs/page.tsx';
import { fleetPage } from '../fleet/page.tsx';
import { inboxPage } from '../inbox/page.tsx';
import { keysPage } from '../keys/page.tsx';
import { peoplePage } from '../people/page.tsx';
import { sessionPage } from '../session/page.tsx';
import { sessionsPage } from '../sessions/page.tsx';
import { settingsPage } from '../settings/page.tsx';
import { vaultsPage } from '../vaults/page.tsx';
import { ui } from '../stores/stores.ts';
import { unknownPage } from './unknown-page.tsx';
import type { Page } from '../ui/page.ts';

/** Every page: the pages of the top bar in order, then the pages below one of them. */
export const pages: readonly [Page, ...Page[]] = [
  sessionsPage,
  fleetPage,
  inboxPage,
  sessionPage,
  agentsPage,
  costsPage,
  settingsPage,
  vaultsPage,
  keysPage,
  peoplePage,
  auditPage,
];

/** A page of the top bar and the pages below it; empty if no page is below it. */
export function listGroup({ view, under = view }: Page): readonly Page[] {
  const group = pages.filter((page) => page.view === under || page.under === under);
  return group.length > 1 ? group : [];
}

/** The page of an address; for an unknown address, the page that reports it. */
export function findPage(view: string): Page {
  return pages.find((page) => page.view === view) ?? unknownPage;
}

/** Opens a page by key or command. */
export function openPage(page: Page): void {
  if (page.open === undefined) ui.go({ view: page.view });
  else page.open();
}

import { ui } from '../stores/stores.ts';
import { NotFound } from '../ui/NotFound.tsx';
import type { Page } from '../ui/page.ts';

/** Shown for an address that no page has. */
export const unknownPage: Page = {
  view: '',
  name: 'Not found',
  shortcut: '',
  render: ({ view }) => <NotFound what="page" name={view} hint="The link may be from another version of Fleetloom." />,
  keys: { Escape: () => ui.back() },
  help: [],
};

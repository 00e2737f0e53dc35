import { ui } from '../stores/stores.ts';
import { NotFound } from '../ui/NotFound.tsx';
import type { Page } from '../ui/page.ts';

/** The page that is shown for an unknown address. */
export const unknownPage: Page = {
  view: '',
  name: 'Not found',
  shortcut: '',
  render: ({ view }) => <NotFound what="page" name={view} hint="The link may be from another version of Fleetloom." />,
  keys: { Escape: () => ui.back() },
  help: [],
};

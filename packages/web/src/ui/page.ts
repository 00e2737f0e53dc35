import type { FleetScope } from '@fleetloom/protocol/fleet';
import type { ReactNode } from 'react';
import type { Route } from '../stores/ui-store.ts';

/** Actions by the key that starts them. */
export type KeyMap = Readonly<Record<string, () => void>>;

/** A key or several keys and their action, as the help shows them. */
export type KeyHelp = readonly [keys: string, action: string];

/** A page of the dashboard. Routing, top bar, title, keys, help and command palette read it from the registry in `shell/pages.ts`. */
export interface Page {
  /** First part of the page's address: `#/fleet`. */
  readonly view: string;
  readonly name: string;
  /** The page's name in the command palette, if it differs from `name`. */
  readonly commandName?: string;
  /** The `view` of the top bar page that this page is listed below. */
  readonly under?: string;
  /** The scope without which the page is of no use. */
  readonly needs?: FleetScope;
  /** The key that opens the page when pressed after `g`. */
  readonly shortcut: string;
  readonly render: (route: Route) => ReactNode;
  /** Opens the page by key or command; by default without an object selected. */
  readonly open?: () => void;
  /** A number beside the page's name in the top bar; 0 shows no number. */
  readonly count?: () => number;
  /** Keys of this page; they take precedence over the keys of the shell. */
  readonly keys: KeyMap;
  readonly help: readonly KeyHelp[];
}

import type { FleetScope } from '@fleetloom/protocol/fleet';
import type { ReactNode } from 'react';
import type { Route } from '../stores/ui-store.ts';

/** Actions by the key that starts them. */
export type KeyMap = Readonly<Record<string, () => void>>;

/** A key, or several, and what they do, as the help shows it. */
export type KeyHelp = readonly [keys: string, action: string];

/** A page of the dashboard. Routing, top bar, title, keys, help and command palette read it from the registry in `shell/pages.ts`. */
export interface Page {
  /** First part of its address: `#/fleet`. */
  readonly view: string;
  readonly name: string;
  /** Its name in the command palette, where that says more. */
  readonly commandName?: string;
  /** The page of the top bar that it is listed below. */
  readonly under?: string;
  /** The scope that it is of no use without. */
  readonly needs?: FleetScope;
  /** Pressed after `g`, opens the page. */
  readonly shortcut: string;
  readonly render: (route: Route) => ReactNode;
  /** Opens the page by key or command; by default without an object selected. */
  readonly open?: () => void;
  /** A number beside its name in the top bar; 0 shows none. */
  readonly count?: () => number;
  /** Keys of this page; they take precedence over those of the shell. */
  readonly keys: KeyMap;
  readonly help: readonly KeyHelp[];
}

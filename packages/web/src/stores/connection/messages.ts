import type { FleetEvent } from '@fleetloom/protocol/fleet';

/** State of the shared connection. */
export interface LinkState {
  readonly type: 'connecting' | 'live' | 'reconnecting' | 'signed_out' | 'over';
  readonly attempt: number;
  /** Time of the next attempt while waiting for it. */
  readonly nextTryAt: number | null;
  /** When the last byte arrived, on the browser's clock; null before the first one. */
  readonly lastByteAt: number | null;
  /** Number of reconnects so far. */
  readonly reconnects: number;
  /** Events that happened while disconnected and arrived after the reconnect. */
  readonly caughtUp: number;
  /** Tabs that share the connection. */
  readonly tabs: number;
  readonly problem: string;
}

/** The state before the first connection. */
export const noLink: LinkState = {
  type: 'connecting',
  attempt: 0,
  nextTryAt: null,
  lastByteAt: null,
  reconnects: 0,
  caughtUp: 0,
  tabs: 1,
  problem: '',
};

/** A message from the hub to a tab. */
export type HubMessage =
  | { readonly type: 'events'; readonly events: readonly FleetEvent[] }
  | { readonly type: 'link'; readonly link: LinkState }
  /** Sessions with events before this tab attached: the tab loads their logs. */
  | { readonly type: 'welcome'; readonly sessions: readonly string[] };

/** A message from a tab to the hub. */
export type TabMessage = { readonly type: 'bye' };

/** The hub's end of the channel to a tab. */
export interface TabPort {
  postMessage(message: HubMessage): void;
}

import type { FleetEvent } from '@fleetloom/protocol/fleet';

/** What becomes of the one connection. */
export interface LinkState {
  readonly type: 'connecting' | 'live' | 'reconnecting' | 'signed_out' | 'over';
  readonly attempt: number;
  /** When the next attempt begins, while it waits for it. */
  readonly nextTryAt: number | null;
  /** Connections that were made before this one. */
  readonly reconnects: number;
  /** Events that came after a break and had happened during it. */
  readonly caughtUp: number;
  /** Tabs that share it. */
  readonly tabs: number;
  readonly problem: string;
}

export const noLink: LinkState = {
  type: 'connecting',
  attempt: 0,
  nextTryAt: null,
  reconnects: 0,
  caughtUp: 0,
  tabs: 1,
  problem: '',
};

/** From the hub to a tab. */
export type HubMessage =
  | { readonly type: 'events'; readonly events: readonly FleetEvent[] }
  | { readonly type: 'link'; readonly link: LinkState }
  /** Sessions of which something was told before this tab came: it reads their logs. */
  | { readonly type: 'welcome'; readonly sessions: readonly string[] };

/** From a tab to the hub. */
export type TabMessage = { readonly type: 'bye' };

/** The end of a channel that the hub sees. */
export interface TabPort {
  postMessage(message: HubMessage): void;
}

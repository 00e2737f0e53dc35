import type { Clock } from '../../base/clock.ts';
import type { Schedule } from '../../base/schedule.ts';
import type { FleetChannels } from './fleet-channels.ts';
import type { FleetToken } from './fleet-token.ts';
import type { FleetViewOptions } from './fleet-view.ts';

/** The connection that receives the events. */
export interface FleetSink {
  readonly signal: AbortSignal;
  /** Returns false when the caller must wait for `room` before sending more. */
  send(bytes: Uint8Array): boolean;
  room(): Promise<void>;
}

/** The request to follow all sessions of a workspace from a cursor on. */
export interface WatchEverything {
  readonly channels: FleetChannels;
  readonly workspaceId: string;
  readonly options: FleetViewOptions;
  /** The reader's cursor; null: the reader has received nothing. */
  readonly token: FleetToken | null;
  /** Sends only events from now on. */
  readonly isLive: boolean;
  readonly isFollowed: boolean;
  readonly clock: Pick<Clock, 'now'>;
  readonly schedule: Schedule;
  readonly sink: FleetSink;
  readonly onError: (error: unknown) => void;
  /** Sessions that are followed at the same time. */
  readonly watchedMax?: number;
}

import type { Clock } from '../../base/clock.ts';
import type { Schedule } from '../../base/schedule.ts';
import type { FleetChannels } from './fleet-channels.ts';
import type { FleetToken } from './fleet-token.ts';
import type { FleetViewOptions } from './fleet-view.ts';

/** Where the events go. */
export interface FleetSink {
  readonly signal: AbortSignal;
  /** False: wait for `room` before giving more. */
  send(bytes: Uint8Array): boolean;
  room(): Promise<void>;
}

/** All sessions of a workspace from a position on. */
export interface WatchEverything {
  readonly channels: FleetChannels;
  readonly workspaceId: string;
  readonly options: FleetViewOptions;
  /** Where the reader is; null: it has nothing. */
  readonly token: FleetToken | null;
  /** Without what has happened before. */
  readonly isLive: boolean;
  readonly isFollowed: boolean;
  readonly clock: Pick<Clock, 'now'>;
  readonly schedule: Schedule;
  readonly sink: FleetSink;
  readonly onError: (error: unknown) => void;
  /** Sessions that are followed at the same time. */
  readonly watchedMax?: number;
}

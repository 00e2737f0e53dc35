import { FairTurns } from '../../base/fair-turns.ts';
import { viewLimits } from '../limits.ts';
import type { SessionLog } from '../../log/log.ts';
import type { Store } from '../../store/store.ts';
import { FleetChannel } from './fleet-channel.ts';
import type { FleetViewOptions } from './fleet-view.ts';

export interface FleetChannelsOptions {
  readonly store: Store;
  readonly log: SessionLog;
  readonly bytesMax?: number;
  /** A reader folded many frames because there was no checkpoint near. */
  readonly onLong?: ((sessionId: string, seen: number) => void) | undefined;
}

/** The channels of all sessions that have a reader. */
export class FleetChannels {
  readonly store: Store;
  readonly onLong: FleetChannelsOptions['onLong'];
  /** Queues the reading of past events for all streams of all sessions. */
  readonly turns = new FairTurns(viewLimits.fleetStepsMax);
  readonly #log: SessionLog;
  readonly #bytesMax: number;
  /** In the order of opening. */
  readonly #open = new Map<string, { readonly channel: FleetChannel; readers: number }>();
  /** Bytes of all channels together. */
  #bytes = 0;

  constructor({ store, log, bytesMax = viewLimits.fleetChannelsBytesMax, onLong }: FleetChannelsOptions) {
    this.store = store;
    this.onLong = onLong;
    this.#log = log;
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#open.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The channel of a session, for one more reader. */
  enter(sessionId: string, options: FleetViewOptions): FleetChannel {
    const key = keyOf(sessionId, options);
    const known = this.#open.get(key);
    // A channel that has failed or ended is not given to new readers.
    if (known !== undefined && known.channel.end === undefined) {
      known.readers++;
      return known.channel;
    }
    const { store, onLong } = this;
    const onBytes = (bytes: number) => this.#count(bytes);
    const channel = new FleetChannel({ store, log: this.#log, sessionId, options, onBytes, onLong });
    this.#open.set(key, { channel, readers: 1 });
    return channel;
  }

  leave(sessionId: string, options: FleetViewOptions, channel: FleetChannel): void {
    const key = keyOf(sessionId, options);
    const known = this.#open.get(key);
    if (known?.channel !== channel) return channel.close();
    if (--known.readers > 0) return;
    this.#open.delete(key);
    channel.close();
  }

  /** Bounds all channels together: the channels that were opened first drop their events first. */
  #count(bytes: number): void {
    this.#bytes += bytes;
    if (bytes < 0) return;
    for (const { channel } of this.#open.values()) {
      if (this.#bytes <= this.#bytesMax) return;
      channel.drop();
    }
  }
}

function keyOf(sessionId: string, { gate, includeThinking }: FleetViewOptions): string {
  return `${sessionId} ${gate} ${includeThinking}`;
}

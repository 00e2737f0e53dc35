import type { Clock } from '../base/clock.ts';
import type { EgressEntry } from '../frames/egress-entry.ts';
import { inBackground } from '../base/in-background.ts';
import { egressLimits } from './limits.ts';
import type { RefusalReason, Target } from './policy.ts';

/** How a client reached the proxy: a tunnel that is not opened, one that is, or a request without encryption. */
export type EgressProtocol = 'tunnel' | 'tls' | 'http';

/** Where the connections of one session are logged. */
export interface ConnectionLog {
  /** Resolves when the log has the connection. Nothing is sent before. */
  open(target: Target, protocol: EgressProtocol): Promise<LoggedConnection>;
  refuse(target: Target, protocol: EgressProtocol, reason: RefusalReason): void;
}

/** A connection that was logged as opened. */
export interface LoggedConnection {
  /** Logs its end. `credentials`: how often the secret of each was put in, by its id. */
  close(end: ConnectionEnd): void;
}

export interface ConnectionEnd {
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly credentials?: ReadonlyMap<string, number> | undefined;
  /** Why the proxy ended it. */
  readonly reason?: RefusalReason | undefined;
}

export interface ConnectionLogOptions {
  /** Writes entries in one commit. Throws if the session cannot be written to here. */
  readonly write: (entries: readonly EgressEntry[]) => Promise<void>;
  /** Called with every entry, those that are not logged included. */
  readonly onEntry?: ((entry: EgressEntry) => void) | undefined;
  readonly clock: Clock;
  readonly nextId: () => string;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * The log of one session. Entries of the same moment are one commit. Beyond {@link egressLimits.loggedMax} connections only their
 * number is logged, at the latest after a minute, so that a program that connects in a loop does not fill the log. Refused ones
 * are counted apart: they are free, and must not hide one that was opened.
 */
export function createConnectionLog(options: ConnectionLogOptions): ConnectionLog {
  const { write, onEntry, clock, nextId, onProblem } = options;
  let waiting: Waiting[] = [];
  let isWriting = false;
  const logged = { opened: 0, refused: 0 };
  let omitted = 0;

  return {
    open: async (target, protocol) => {
      const openedAt = clock.steady();
      const id = nextId();
      const isLogged = count('opened');
      const opened: EgressEntry = { id, outcome: 'opened', ...target, protocol };
      onEntry?.(opened);
      if (isLogged) await add(opened);
      return {
        close: ({ bytesSent, bytesReceived, credentials = new Map(), reason }) => {
          const entry: EgressEntry = {
            id,
            outcome: 'closed',
            ...target,
            protocol,
            bytes_sent: bytesSent,
            bytes_received: bytesReceived,
            duration_ms: Math.round(clock.steady() - openedAt),
            ...(credentials.size === 0 ? {} : { credentials: Object.fromEntries(credentials) }),
            ...(reason === undefined ? {} : { reason }),
          };
          onEntry?.(entry);
          if (isLogged) add(entry).catch(onProblem);
        },
      };
    },
    refuse: (target, protocol, reason) => {
      const entry: EgressEntry = { id: nextId(), outcome: 'refused', ...target, protocol, reason };
      onEntry?.(entry);
      if (count('refused')) add(entry).catch(onProblem);
    },
  };

  /** Whether one more connection is logged on its own. */
  function count(outcome: 'opened' | 'refused'): boolean {
    if (logged[outcome] < egressLimits.loggedMax) {
      logged[outcome]++;
      return true;
    }
    if (omitted++ === 0) setTimeout(logOmitted, egressLimits.omittedMs).unref();
    return false;
  }

  function logOmitted(): void {
    add({ id: nextId(), outcome: 'omitted', count: omitted }).catch(onProblem);
    omitted = 0;
  }

  async function add(entry: EgressEntry): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      waiting.push({ entry, resolve, reject });
      if (!isWriting) inBackground(writeAll(), onProblem);
    });
  }

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await write(batch.map(({ entry }) => entry));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWriting = false;
  }
}

interface Waiting {
  readonly entry: EgressEntry;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

import type { Clock } from '../base/clock.ts';
import type { EgressEntry } from '../frames/egress-entry.ts';
import { inBackground } from '../base/in-background.ts';
import { egressLimits } from './limits.ts';
import type { RefusalReason, Target } from './policy.ts';

/** How a client uses the proxy. `tunnel`: TLS that is not decrypted. `tls`: TLS that the proxy decrypts. `http`: requests without encryption. */
export type EgressProtocol = 'tunnel' | 'tls' | 'http';

/** Logs the connections of one session. */
export interface ConnectionLog {
  /** Logs an opened connection. Resolves when the entry is committed: no byte may be sent to the host before. */
  open(target: Target, protocol: EgressProtocol): Promise<LoggedConnection>;
  refuse(target: Target, protocol: EgressProtocol, reason: RefusalReason): void;
}

/** A connection that was logged as opened. */
export interface LoggedConnection {
  /** Logs the end of the connection. `credentials`: in how many requests the secret of each credential was inserted, by its id. */
  close(end: ConnectionEnd): void;
}

export interface ConnectionEnd {
  readonly bytesSent: number;
  readonly bytesReceived: number;
  readonly credentials?: ReadonlyMap<string, number> | undefined;
  /** Why the proxy ended the connection; absent if a side closed it. */
  readonly reason?: RefusalReason | undefined;
}

export interface ConnectionLogOptions {
  /** Writes entries in one commit. Throws if this node cannot write to the session. */
  readonly write: (entries: readonly EgressEntry[]) => Promise<void>;
  /** Called with every entry, including entries that are not logged. */
  readonly onEntry?: ((entry: EgressEntry) => void) | undefined;
  readonly clock: Clock;
  readonly nextId: () => string;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * The log of one session. Entries that arrive during a commit share the next one. Beyond {@link egressLimits.loggedMax} connections only
 * their number is logged, at the latest after a minute, so that a program that connects in a loop does not fill the log. Refused
 * connections are counted apart: they cost a program nothing, and must not prevent an opened connection from being logged.
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

  /** Counts a connection. Returns whether it is logged individually. */
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

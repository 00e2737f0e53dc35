import { ResponseError } from '@fleetloom/client';
import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import type { Connection } from '../../connection/connection.ts';
import { openFleet } from '../../connection/open-fleet.ts';
import { toFetchError } from '../../connection/server-errors.ts';
import { limits } from '../../base/limits.ts';
import type { Link } from '../state/watch-model.ts';

/** Callbacks of a followed session. */
export interface FollowSession {
  readonly signal: AbortSignal;
  readonly onEvent: (event: FleetEvent) => Promise<void> | void;
  /** The state of the connection and its reason. */
  readonly onLink: (link: Link, reason: string) => void;
  /** Called when the stream is up to date, and after every end of a run; true ends the stream. */
  readonly isOver: () => boolean;
}

/** Follows a session from its first event until it ends or the signal aborts. Returns the last cursor. */
export async function followSession(connection: Connection, session: string, follow: FollowSession): Promise<void> {
  const { signal, onEvent, onLink, isOver } = follow;
  const common = { session, signal, gate: 'live' as const, include: ['thinking'] as const };
  let after: string | undefined;
  const take = async (event: FleetEvent) => {
    if (event.cursor !== '') after = event.cursor;
    await onEvent(event);
  };
  for await (const event of openFleet(connection, { ...common, follow: false, retriesMax: limits.runRetriesMax })) {
    await take(event);
  }
  if (signal.aborted || isOver()) return;
  // The session exists, so the stream is connected. A quiet stream would confirm it only after 10 s.
  onLink('live', '');
  const events = openFleet(connection, {
    ...common,
    ...(after === undefined ? {} : { after }),
    onConnection: (state) => {
      if (state.type === 'open') onLink('live', '');
      else if (state.type === 'waiting') onLink('waiting', reasonOf(connection, state.error));
    },
  });
  for await (const event of events) {
    await take(event);
    if (event.type === 'done' && isOver()) return;
  }
}

function reasonOf(connection: Connection, error: unknown): string {
  if (error === undefined) return 'The server closed the connection.';
  if (error instanceof ResponseError) return `The server responded with status ${error.status}: ${messageOf(error)}.`;
  return toFetchError(connection, error).message;
}

/** The error message of a response, or its whole body in another format. */
function messageOf({ message }: ResponseError): string {
  const [, said] = /"message":("(?:[^"\\]|\\.)*")/.exec(message) ?? [];
  // JSON.parse of a quoted string is a string.
  return cleanLine(said === undefined ? message : (JSON.parse(said) as string)).replace(/\.$/, '');
}

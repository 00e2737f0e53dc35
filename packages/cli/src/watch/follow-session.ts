import { ResponseError } from '@fleetloom/client';
import type { FleetEvent } from '@fleetloom/protocol/fleet';
import type { Connection } from '../connection/connection.ts';
import { openFleet } from '../connection/open-fleet.ts';
import { toFetchError } from '../connection/server-errors.ts';
import { limits } from '../limits.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import type { Link } from './watch-model.ts';

export interface FollowSession {
  readonly signal: AbortSignal;
  readonly onEvent: (event: FleetEvent) => Promise<void> | void;
  /** What has become of the connection, and why. */
  readonly onLink: (link: Link, reason: string) => void;
  /** Asked when everything up to now is known, and behind every end of a run. */
  readonly isOver: () => boolean;
}

/** All that happened in a session, then all that happens, until it is over or the signal comes. Gives the last cursor. */
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
  // It was there a moment ago. A quiet stream would say so only after ten seconds.
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
  if (error === undefined) return 'The server has closed the connection.';
  if (error instanceof ResponseError) return `The server answered ${error.status}: ${messageOf(error)}.`;
  return toFetchError(connection, error).message;
}

/** What an answer says in the form of the API; all of it where it has another. */
function messageOf({ message }: ResponseError): string {
  const [, said] = /"message":("(?:[^"\\]|\\.)*")/.exec(message) ?? [];
  // A text of JSON between its marks is a text.
  return cleanLine(said === undefined ? message : (JSON.parse(said) as string)).replace(/\.$/, '');
}

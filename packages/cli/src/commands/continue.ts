import { isCutOff, toContinueMessage } from '@fleetloom/client';
import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { CommandError } from '../command-error.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { writeText } from '../write-text.ts';

/**
 * `fleetloom continue`: one message to a session of which something was cut off since the last message, e.g. because the server was
 * restarted: its turn, a sub-agent, an approval or work in the background. The message names the calls that were not carried out.
 */
export async function continueSession(io: Io, session: string, options: ConnectionOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  const path = `/v1/sessions/${encodeURIComponent(session)}/events`;
  const events = await readLastTurn(api, path);
  if (!isCutOff(events)) {
    const problem = `Nothing of ${cleanLine(session)} failed or was lost since the last message, or the session is running.`;
    throw new CommandError(exitCode.notFound, problem, `To send a message: fleetloom send ${cleanLine(session)} "…"`);
  }
  const message = { type: 'user.message', content: [{ type: 'text', text: toContinueMessage(events) }] };
  const { data } = await api.post<{ readonly data: readonly { readonly id: string }[] }>(path, { events: [message] });
  await writeText(io.stdout, data.map(({ id }) => `${id}\n`).join(''));
  return exitCode.ok;
}

/** From the newest message of a user on, oldest first. */
async function readLastTurn(api: ServerApi, path: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of api.list<SessionEvent>(path, { order: 'desc', limit: PAGE_ITEMS })) {
    events.push(event);
    if (event.type === 'user.message') break;
  }
  return events.toReversed();
}

const PAGE_ITEMS = 100;

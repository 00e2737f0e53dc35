import { isCutOff, toContinueMessage } from '@fleetloom/client';
import type { SessionEvent } from '@fleetloom/protocol/managed-agents';
import { cleanLine } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { writeText } from '../base/write-text.ts';

/**
 * `fleetloom continue`: sends one message to a session in which a turn, a sub-agent, an approval or background work was
 * interrupted since the last message, for example by a restart of the server. The message lists the tool calls without a result.
 */
export async function continueSession(io: Io, session: string, options: ConnectionOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  const path = `/v1/sessions/${encodeURIComponent(session)}/events`;
  const events = await readLastTurn(api, path);
  if (!isCutOff(events)) {
    const problem = `Nothing to continue in ${cleanLine(session)}: nothing failed since the last message, or the session is running.`;
    throw new CommandError(exitCode.notFound, problem, `To send a message: fleetloom send ${cleanLine(session)} "…"`);
  }
  const message = { type: 'user.message', content: [{ type: 'text', text: toContinueMessage(events) }] };
  const { data } = await api.post<{ readonly data: readonly { readonly id: string }[] }>(path, { events: [message] });
  await writeText(io.stdout, data.map(({ id }) => `${id}\n`).join(''));
  return exitCode.ok;
}

/** The events since the newest user message, oldest first. */
async function readLastTurn(api: ServerApi, path: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of api.list<SessionEvent>(path, { order: 'desc', limit: PAGE_ITEMS })) {
    events.push(event);
    if (event.type === 'user.message') break;
  }
  return events.toReversed();
}

const PAGE_ITEMS = 100;

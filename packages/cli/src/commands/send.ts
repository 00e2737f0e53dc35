import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { UsageError } from '../usage-error.ts';
import { writeText } from '../write-text.ts';

export interface SendOptions extends ConnectionOptions {
  interrupt?: boolean;
  thread?: string;
}

/** `fleetloom send`: says something to a session, or stops it, or first the one and then the other. */
export async function send(io: Io, session: string, text: string | undefined, options: SendOptions): Promise<number> {
  const events = toEvents(text, options);
  const api = createServerApi(toConnection(io.env, options));
  const path = `/v1/sessions/${encodeURIComponent(session)}/events`;
  const { data } = await api.post<{ readonly data: readonly { readonly id: string }[] }>(path, { events });
  await writeText(io.stdout, data.map(({ id }) => `${id}\n`).join(''));
  return exitCode.ok;
}

function toEvents(text: string | undefined, { interrupt = false, thread }: SendOptions): object[] {
  if (thread !== undefined && !interrupt) {
    const fix = 'Say it to the session, or use --interrupt --thread to stop that thread.';
    throw new UsageError('A message goes to the coordinator, who passes it on; --thread is for --interrupt.', fix);
  }
  if (thread !== undefined && text !== undefined) {
    throw new UsageError('A message does not go to one thread.', 'Leave out the text or --thread.');
  }
  if (text === undefined && !interrupt)
    throw new UsageError('There is nothing to send.', 'Give a text, or --interrupt.');
  if (text !== undefined && text.trim() === '') throw new UsageError('The text is empty.', 'Say something.');
  return [
    ...(interrupt ? [{ type: 'user.interrupt', ...(thread === undefined ? {} : { session_thread_id: thread }) }] : []),
    ...(text === undefined ? [] : [{ type: 'user.message', content: [{ type: 'text', text }] }]),
  ];
}

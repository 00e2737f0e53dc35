import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';

/** Options of `send`. */
export interface SendOptions extends ConnectionOptions {
  interrupt?: boolean;
  thread?: string;
}

/** `fleetloom send`: sends a message to a session, interrupts it, or both. */
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
    const fix = 'Send the message without --thread, or interrupt that thread with --interrupt --thread.';
    throw new UsageError('--thread works only with --interrupt; messages go to the coordinator.', fix);
  }
  if (thread !== undefined && text !== undefined) {
    throw new UsageError('A message cannot be sent to a single thread.', 'Omit the text or --thread.');
  }
  if (text === undefined && !interrupt)
    throw new UsageError('There is nothing to send.', 'Pass a text or --interrupt.');
  if (text !== undefined && text.trim() === '') throw new UsageError('The text is empty.', 'Pass a message.');
  return [
    ...(interrupt ? [{ type: 'user.interrupt', ...(thread === undefined ? {} : { session_thread_id: thread }) }] : []),
    ...(text === undefined ? [] : [{ type: 'user.message', content: [{ type: 'text', text }] }]),
  ];
}

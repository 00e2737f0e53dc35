import { record, records, text } from '../../lines/values.ts';
import type { ProgramOptions } from '../../program.ts';
import { readSession } from '../wire/read-event.ts';
import type { OpencodeServer } from './opencode-server.ts';

/** A conversation that the program works on. */
export interface OpenedConversation {
  readonly conversation: string;
  readonly version: string | null;
  /** Messages that were there before. */
  readonly history: ReadonlySet<string>;
}

type Sender = Pick<OpencodeServer, 'send'>;

/** Creates or continues the conversation. Rejects where that is not possible. */
export async function openConversation(
  server: Sender,
  { resume, title }: Pick<ProgramOptions, 'resume'> & { readonly title: string },
): Promise<OpenedConversation> {
  const version = text(record((await server.send('GET', '/global/health')).body)?.['version']) ?? null;
  if (resume === null) return { conversation: await create(server, title), version, history: new Set() };
  return { conversation: resume, version, history: new Set(await readIds(server, resume)) };
}

async function create(server: Sender, title: string): Promise<string> {
  const { status, body } = await server.send('POST', '/session', { title });
  const session = readSession(body);
  if (session === null) throw new Error(`opencode did not create a conversation (status ${status})`);
  return session.id;
}

async function readIds(server: Sender, conversation: string): Promise<readonly string[]> {
  if (!/^ses_\w+$/.test(conversation)) throw new Error(`No conversation found with the id ${conversation}`);
  const { status, body } = await server.send('GET', `/session/${conversation}/message`);
  if (status !== 200) throw new Error(`No conversation found with the id ${conversation}`);
  return records(body).flatMap((message) => text(record(message['info'])?.['id']) ?? []);
}

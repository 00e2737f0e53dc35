import { programLimits } from '../../limits.ts';
import { record, records, text } from '../../lines/values.ts';
import type { ProgramOptions } from '../../program.ts';
import { readSession } from '../wire/read-event.ts';
import type { OpencodeServer } from './opencode-server.ts';

/** A conversation that the program works on. */
export interface OpenedConversation {
  readonly conversation: string;
  readonly version: string | null;
  /** Ids of messages from before the program was opened. */
  readonly history: ReadonlySet<string>;
}

type Sender = Pick<OpencodeServer, 'send'>;

/** Creates, continues or forks the conversation. Rejects if that is not possible. */
export async function openConversation(
  server: Sender,
  {
    resume,
    forkAt,
    directory,
    title,
  }: Pick<ProgramOptions, 'resume' | 'forkAt' | 'directory'> & { readonly title: string },
): Promise<OpenedConversation> {
  const version = text(record((await server.send('GET', '/global/health')).body)?.['version']) ?? null;
  if (resume === null) return { conversation: await create(server, title), version, history: new Set() };
  if (forkAt !== undefined) {
    const conversation = await fork(server, { conversation: resume, forkAt, directory });
    return { conversation, version, history: new Set(await readIds(server, conversation)) };
  }
  return { conversation: resume, version, history: new Set(await readIds(server, resume)) };
}

async function create(server: Sender, title: string): Promise<string> {
  const { status, body } = await server.send('POST', '/session', { title });
  const session = readSession(body);
  if (session === null) throw new Error(`opencode did not create a conversation (status ${status})`);
  return session.id;
}

/** Creates a conversation with the messages up to `forkAt`, and moves it and the conversations of sub-agents to the new directory. */
async function fork(
  server: Sender,
  {
    conversation,
    forkAt,
    directory,
  }: { readonly conversation: string; readonly forkAt: string; readonly directory: string },
): Promise<string> {
  const ids = await readIds(server, conversation);
  const at = ids.indexOf(forkAt);
  if (at < 0) throw new Error(`The conversation ${conversation} has no message ${forkAt} to continue from`);
  const next = ids[at + 1];
  const { status, body } = await server.send(
    'POST',
    `/session/${conversation}/fork`,
    next === undefined ? {} : { messageID: next },
  );
  const forked = readSession(body);
  if (forked === null) throw new Error(`opencode did not fork the conversation (status ${status})`);
  const moved = new Set([forked.id, conversation]);
  for (const id of moved) {
    await move(server, id, directory);
    const children = records((await server.send('GET', `/session/${id}/children`)).body);
    for (const { id: child } of children.flatMap((each) => readSession(each) ?? []))
      if (moved.size < programLimits.opencodeConversationsMax) moved.add(child);
  }
  return forked.id;
}

async function move(server: Sender, sessionID: string, directory: string): Promise<void> {
  const body = { sessionID, destination: { directory }, moveChanges: false };
  const answer = await server.send('POST', '/experimental/control-plane/move-session', body);
  if (answer.status < 300) return;
  const reason = text(record(record(answer.body)?.['data'])?.['message']) ?? `status ${answer.status}`;
  throw new Error(`opencode did not move the conversation to the workspace of the fork: ${reason}`);
}

async function readIds(server: Sender, conversation: string): Promise<readonly string[]> {
  if (!/^ses_\w+$/.test(conversation)) throw new Error(`No conversation found with the id ${conversation}`);
  const { status, body } = await server.send('GET', `/session/${conversation}/message`);
  if (status !== 200) throw new Error(`No conversation found with the id ${conversation}`);
  return records(body).flatMap((message) => text(record(message['info'])?.['id']) ?? []);
}

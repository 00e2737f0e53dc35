import { programLimits } from '../../limits.ts';
import { record, records } from '../../lines/values.ts';
import type { AskRequest, Snapshot } from '../wire/events.ts';
import { readAsk, readMessage, readPart, readSession, readStatus } from '../wire/read-event.ts';
import type { OpencodeServer } from './opencode-server.ts';

/** Reads conversations and the conversations of their sub-agents, parents first. Needed because the stream of events has no replay. */
export async function* readSnapshot(
  server: Pick<OpencodeServer, 'send'>,
  conversations: readonly string[],
): AsyncGenerator<Snapshot> {
  const [statuses, permissions, questions] = await Promise.all(
    ['/session/status', '/permission', '/question'].map(async (path) => (await server.send('GET', path)).body),
  );
  const asks = [...toAsks('permission', permissions), ...toAsks('question', questions)];
  // Conversations that are found are appended, up to the limit: a program could name new ones without end.
  const wanted = new Set(conversations);
  for (const conversation of wanted) {
    const [messages, below] = await Promise.all(
      ['message', 'children'].map(async (what) => (await server.send('GET', `/session/${conversation}/${what}`)).body),
    );
    const children = records(below).flatMap((child) => readSession(child) ?? []);
    for (const { id } of children) if (wanted.size < programLimits.opencodeConversationsMax) wanted.add(id);
    yield {
      conversation,
      status: readStatus(record(statuses)?.[conversation]) ?? { type: 'idle' },
      messages: records(messages).flatMap(({ info, parts }) => {
        const message = readMessage(info);
        return message === null ? [] : [{ message, parts: records(parts).flatMap((part) => readPart(part) ?? []) }];
      }),
      asks: asks.filter(({ sessionId }) => sessionId === conversation),
      children,
    };
  }
}

function toAsks(kind: AskRequest['kind'], body: unknown): AskRequest[] {
  return records(body).flatMap((value) => readAsk(kind, value) ?? []);
}

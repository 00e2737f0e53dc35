import { type AgentEvent, StreamTranslator } from '@fleetloom/protocol/stream-json';

/** The events of each chunk as one list, written or drawn in one step. Does not read ahead. */
export async function* readEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<AgentEvent[]> {
  const stream = new StreamTranslator();
  for await (const chunk of bytes) {
    const events = stream.push(chunk);
    if (events.length > 0) yield events;
  }
  const rest = stream.end();
  if (rest.length > 0) yield rest;
}

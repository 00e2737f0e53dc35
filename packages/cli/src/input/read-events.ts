import { type AgentEvent, type LineItem, StreamJsonReader, Translator } from '@fleetloom/protocol/stream-json';

/** The events of each chunk as one list, so that they can be written or drawn together. Reads no chunk ahead. */
export async function* readEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<AgentEvent[]> {
  const reader = new StreamJsonReader();
  const translator = new Translator();
  const toEvents = (item: LineItem) =>
    item.type === 'message' ? translator.translate(item.message) : translator.issue(item);
  for await (const chunk of bytes) {
    const events = reader.push(chunk).flatMap(toEvents);
    if (events.length > 0) yield events;
  }
  const rest = reader.end().flatMap(toEvents);
  if (rest.length > 0) yield rest;
}

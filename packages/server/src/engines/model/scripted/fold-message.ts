import type { BlockDelta, ContentBlock, Message, MessagesEvent, PingEvent } from './wire.ts';

/**
 * Folds events to a whole message, for a client that did not request a stream. Events are folded as they arrive:
 * folding a long response at once would block the event loop.
 *
 * @example
 * const fold = new MessageFold();
 * for await (const events of model.play(plan)) fold.add(events);
 * return fold.finish();
 */
export class MessageFold {
  #message: Message | undefined;
  readonly #content: Growing[] = [];

  add(events: Iterable<MessagesEvent | PingEvent>): void {
    for (const event of events) this.#addOne(event);
  }

  finish(): Message {
    if (this.#message === undefined) throw new Error('an answer without message_start: the plan is wrong');
    return { ...this.#message, content: this.#content.map(finish) };
  }

  #addOne(event: MessagesEvent | PingEvent): void {
    if (event.type === 'message_start') this.#message = { ...event.message };
    if (event.type === 'content_block_start') this.#content.push({ block: { ...event.content_block }, json: '' });
    if (event.type === 'content_block_delta') grow(this.#content[event.index], event.delta);
    if (event.type === 'message_delta' && this.#message !== undefined) {
      this.#message = { ...this.#message, ...event.delta, usage: { ...this.#message.usage, ...event.usage } };
    }
  }
}

interface Growing {
  block: ContentBlock;
  /** The input of a call so far. */
  json: string;
}

function grow(growing: Growing | undefined, delta: BlockDelta): void {
  if (growing === undefined) return;
  const { block } = growing;
  if (delta.type === 'text_delta' && block.type === 'text') block.text += delta.text;
  if (delta.type === 'thinking_delta' && block.type === 'thinking') block.thinking += delta.thinking;
  if (delta.type === 'signature_delta' && block.type === 'thinking') block.signature = delta.signature;
  if (delta.type === 'input_json_delta') growing.json += delta.partial_json;
}

function finish({ block, json }: Growing): ContentBlock {
  return block.type === 'tool_use' ? { ...block, input: JSON.parse(json) } : block;
}

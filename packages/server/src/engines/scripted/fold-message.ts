import type { BlockDelta, ContentBlock, Message, MessagesEvent, PingEvent } from './wire.ts';

/** The whole message that the events tell: what a client gets that did not ask for a stream. */
export function foldMessage(events: Iterable<MessagesEvent | PingEvent>): Message {
  let message: Message | undefined;
  const content: Growing[] = [];
  for (const event of events) {
    if (event.type === 'message_start') message = { ...event.message };
    if (event.type === 'content_block_start') content.push({ block: { ...event.content_block }, json: '' });
    if (event.type === 'content_block_delta') grow(content[event.index], event.delta);
    if (event.type === 'message_delta' && message !== undefined) {
      message = { ...message, ...event.delta, usage: { ...message.usage, ...event.usage } };
    }
  }
  if (message === undefined) throw new Error('an answer without message_start: the plan is wrong');
  return { ...message, content: content.map(finish) };
}

interface Growing {
  block: ContentBlock;
  /** Of a call: its input so far. */
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

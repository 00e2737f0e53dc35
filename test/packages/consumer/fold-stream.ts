import { type AgentEvent, translateStream } from '@fleetloom/protocol/stream-json';
import { createAccelerator } from '@fleetloom/protocol/stream-json/accelerator';
import { type AgentTree, createTree, foldEvent } from '@fleetloom/protocol/stream-json/tree';

/** All agents of a stream, and what the main one said. */
export async function foldStream(stream: AsyncIterable<Uint8Array>): Promise<{ tree: AgentTree; said: string }> {
  const tree = createTree();
  let said = '';
  for await (const event of translateStream(stream, { accelerator: createAccelerator() })) {
    foldEvent(tree, event);
    said += textOf(event);
  }
  return { tree, said };
}

function textOf(event: AgentEvent): string {
  return event.type === 'text_delta' && event.thread === 'main' ? event.content : '';
}

import type { ProgramEvent } from '../../program.ts';
import type { GatewayEvent } from '../../gateway/events.ts';
import type { OpenAnswer } from './open-answer.ts';
import type { BlockKind } from './open-block.ts';

/** Applies an event of the gateway to an open response. `isFull`: the queue of the reader is full. */
export function followGateway(open: OpenAnswer, { requestId, event }: GatewayEvent, isFull: boolean): ProgramEvent[] {
  switch (event.type) {
    case 'block_started':
      open.start(nameOf(requestId, event.index), kinds[event.block], event.call?.id ?? null);
      return [];
    case 'delta':
      return open.grow(nameOf(requestId, event.index), event.text, isFull);
    case 'block_stopped':
      return open.stop(nameOf(requestId, event.index));
    case 'usage':
      open.usage = event.usage;
      open.stopReason = event.stopReason ?? open.stopReason;
      return [];
    case 'finished':
      return open.finish(false);
    case 'failed':
      if (event.failure.reason !== 'unreadable') return open.finish(true);
      open.followLines();
      return [];
    default:
      return [];
  }
}

const kinds: Readonly<Record<'text' | 'thinking' | 'tool_use' | 'other', BlockKind>> = {
  text: 'text',
  thinking: 'thinking',
  tool_use: 'call',
  other: 'opaque',
};

/** The name of a block. Request ids of the gateway are unique, even if an endpoint answers two requests with one message id. */
function nameOf(requestId: string, index: number): string {
  return `${requestId} #${index}`;
}

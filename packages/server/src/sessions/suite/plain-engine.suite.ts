import type { AssistantBlock } from '../../base/content.ts';
import type { Engine, EngineEvent, ModelRequest, Stop } from '../../engines/model/engine.ts';

/** A model response of the plain engine. */
export interface PlainAnswer {
  readonly content?: readonly AssistantBlock[];
  readonly reason?: Stop['reason'];
}

/** An engine without a script, for behaviour that scripts cannot express: any failure, misbehaviour, many fast responses. */
export function createPlainEngine(
  answer: (request: ModelRequest, signal: AbortSignal) => PlainAnswer | AsyncIterable<EngineEvent>,
): Engine {
  return {
    request: (request, signal) => {
      const given = answer(request, signal);
      return Symbol.asyncIterator in given ? given : toEvents(given);
    },
    close: async () => {},
  };
}

async function* toEvents({ content = [], reason = 'end_turn' }: PlainAnswer): AsyncGenerator<EngineEvent> {
  for (const [index, block] of content.entries()) {
    if (block.type === 'tool_use') yield { type: 'block_started', index, block: 'tool_use' };
    if (block.type !== 'text') continue;
    yield { type: 'block_started', index, block: 'text' };
    yield { type: 'delta', index, text: block.text };
  }
  const stop = { reason, category: null, explanation: null };
  yield { type: 'finished', content, stop, usage: someUsage, model: 'plain' };
}

/** Usage of a small request. */
export const someUsage = {
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens: 3,
  cacheWrite5mTokens: 2,
  cacheWrite1hTokens: 1,
};

import type { Usage } from '../engine.ts';
import { number, record } from './values.ts';

export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWrite5mTokens: 0,
  cacheWrite1hTokens: 0,
};

/** As the wire has it; what it does not say stays as it was known. */
export function toUsage(usage: Record<string, unknown> | undefined, known: Usage): Usage {
  if (usage === undefined) return known;
  const kept = record(usage['cache_creation']);
  const written = number(usage['cache_creation_input_tokens']);
  const write1h = number(kept?.['ephemeral_1h_input_tokens']) ?? known.cacheWrite1hTokens;
  return {
    inputTokens: number(usage['input_tokens']) ?? known.inputTokens,
    outputTokens: number(usage['output_tokens']) ?? known.outputTokens,
    cacheReadTokens: number(usage['cache_read_input_tokens']) ?? known.cacheReadTokens,
    cacheWrite5mTokens: written === undefined ? known.cacheWrite5mTokens : Math.max(0, written - write1h),
    cacheWrite1hTokens: write1h,
  };
}

export function addUsage(a: Usage, b: Usage): Usage {
  return combine(a, b, (x, y) => x + y);
}

/** What is left of the first; nothing where the second is more. */
export function subtractUsage(a: Usage, b: Usage): Usage {
  return combine(a, b, (x, y) => Math.max(0, x - y));
}

function combine(a: Usage, b: Usage, join: (x: number, y: number) => number): Usage {
  return {
    inputTokens: join(a.inputTokens, b.inputTokens),
    outputTokens: join(a.outputTokens, b.outputTokens),
    cacheReadTokens: join(a.cacheReadTokens, b.cacheReadTokens),
    cacheWrite5mTokens: join(a.cacheWrite5mTokens, b.cacheWrite5mTokens),
    cacheWrite1hTokens: join(a.cacheWrite1hTokens, b.cacheWrite1hTokens),
  };
}

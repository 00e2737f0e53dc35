import type { Usage } from '../../../model/engine.ts';
import { record, tokenCount } from '../../lines/values.ts';

/** The usage of a whole turn, as `session/prompt` reports it; zeros without a report. */
export function toUsage(reported: unknown): Usage {
  const usage = record(reported);
  const read = (name: string) => tokenCount(usage?.[name]);
  const [input, output] = [read('inputTokens'), read('outputTokens')];
  const [cacheRead, cacheWrite] = [read('cachedReadTokens'), read('cachedWriteTokens')];
  // Some agents count cached tokens as part of the input, others beside it.
  const isContained = read('totalTokens') === input + output;
  return {
    inputTokens: isContained ? Math.max(0, input - cacheRead - cacheWrite) : input,
    outputTokens: output,
    cacheReadTokens: cacheRead,
    cacheWrite5mTokens: cacheWrite,
    cacheWrite1hTokens: 0,
  };
}

import { isObject, type Json, type JsonObject } from '../../base/json/json.ts';
import type { Usage } from './engine.ts';

/** Updates the usage with the counts of a response's newest event: they are totals, and a missing count changes nothing. */
export function addUsage(before: Usage | null, reported: Json | undefined): Usage {
  const usage = before ?? noUsage;
  if (!isObject(reported)) return usage;
  const write1h = readWrite1h(reported) ?? usage.cacheWrite1hTokens;
  const write = readCount(reported['cache_creation_input_tokens']);
  return {
    inputTokens: readCount(reported['input_tokens']) ?? usage.inputTokens,
    outputTokens: readCount(reported['output_tokens']) ?? usage.outputTokens,
    cacheReadTokens: readCount(reported['cache_read_input_tokens']) ?? usage.cacheReadTokens,
    // The end of a response reports only the sum.
    cacheWrite5mTokens: write === undefined ? usage.cacheWrite5mTokens : Math.max(0, write - write1h),
    cacheWrite1hTokens: write1h,
  };
}

/** The usage of a request that used nothing. */
export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWrite5mTokens: 0,
  cacheWrite1hTokens: 0,
};

function readWrite1h({ cache_creation: split }: JsonObject): number | undefined {
  return isObject(split) ? readCount(split['ephemeral_1h_input_tokens']) : undefined;
}

function readCount(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

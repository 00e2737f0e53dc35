import type { Json, JsonObject } from '../base/json.ts';
import type { Usage } from './engine.ts';

/** What an answer has told so far, and what it tells now: its counts are totals, and a missing one changes nothing. */
export function addUsage(before: Usage | null, told: Json | undefined): Usage {
  const usage = before ?? noUsage;
  if (!isObject(told)) return usage;
  const write1h = readWrite1h(told) ?? usage.cacheWrite1hTokens;
  const write = readCount(told['cache_creation_input_tokens']);
  return {
    inputTokens: readCount(told['input_tokens']) ?? usage.inputTokens,
    outputTokens: readCount(told['output_tokens']) ?? usage.outputTokens,
    cacheReadTokens: readCount(told['cache_read_input_tokens']) ?? usage.cacheReadTokens,
    // The end of an answer tells only the sum.
    cacheWrite5mTokens: write === undefined ? usage.cacheWrite5mTokens : Math.max(0, write - write1h),
    cacheWrite1hTokens: write1h,
  };
}

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

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

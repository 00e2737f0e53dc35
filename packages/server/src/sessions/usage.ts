import type { Usage } from '../engines/engine.ts';
import type { UsageTotals } from '../frames/frames.ts';

/** The sum of two. An unknown cost makes the sum unknown: a number that leaves something out would look true. */
export function addUsage(a: UsageTotals, b: UsageTotals): UsageTotals {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
    cache_creation_5m_input_tokens: a.cache_creation_5m_input_tokens + b.cache_creation_5m_input_tokens,
    cache_creation_1h_input_tokens: a.cache_creation_1h_input_tokens + b.cache_creation_1h_input_tokens,
    cost_nano_usd: a.cost_nano_usd === null || b.cost_nano_usd === null ? null : a.cost_nano_usd + b.cost_nano_usd,
  };
}

/** Everything that went through the model. */
export function sumTokens(usage: UsageTotals): number {
  return (
    usage.input_tokens +
    usage.output_tokens +
    usage.cache_read_input_tokens +
    usage.cache_creation_5m_input_tokens +
    usage.cache_creation_1h_input_tokens
  );
}

/** As engines say it. */
export function toUsage(totals: UsageTotals | null): Usage | null {
  if (totals === null) return null;
  return {
    inputTokens: totals.input_tokens,
    outputTokens: totals.output_tokens,
    cacheReadTokens: totals.cache_read_input_tokens,
    cacheWrite5mTokens: totals.cache_creation_5m_input_tokens,
    cacheWrite1hTokens: totals.cache_creation_1h_input_tokens,
  };
}

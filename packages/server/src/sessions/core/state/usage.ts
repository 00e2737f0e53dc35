import type { Usage } from '../../../engines/model/engine.ts';
import type { UsageTotals } from '../../../frames/payload-parts.ts';

/** Adds two usages. An unknown cost makes the sum unknown: a partial cost would look complete. */
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

/** All tokens, read and written. */
export function sumTokens(usage: UsageTotals): number {
  return (
    usage.input_tokens +
    usage.output_tokens +
    usage.cache_read_input_tokens +
    usage.cache_creation_5m_input_tokens +
    usage.cache_creation_1h_input_tokens
  );
}

/** Converts totals of the log into the usage type of engines. */
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

/** Converts the usage that an engine reports, with its cost, into the totals of the log. */
export function toTotals(usage: Usage | null, costNanoUsd: number | null): UsageTotals {
  return {
    input_tokens: usage?.inputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    cache_read_input_tokens: usage?.cacheReadTokens ?? 0,
    cache_creation_5m_input_tokens: usage?.cacheWrite5mTokens ?? 0,
    cache_creation_1h_input_tokens: usage?.cacheWrite1hTokens ?? 0,
    cost_nano_usd: usage === null ? 0 : costNanoUsd,
  };
}

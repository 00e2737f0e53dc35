import type { Usage } from '../../../engines/model/engine.ts';
import type { UsageTotals } from '../../../frames/payload-parts.ts';

/** Adds two usages. An unknown cost makes the sum unknown: a partial cost would look complete. */
export function addUsage(a: UsageTotals, b: UsageTotals): UsageTotals {
  const add = (name: Exclude<keyof UsageTotals, 'cost_nano_usd'>) => toCount(a[name] + b[name]);
  return {
    input_tokens: add('input_tokens'),
    output_tokens: add('output_tokens'),
    cache_read_input_tokens: add('cache_read_input_tokens'),
    cache_creation_5m_input_tokens: add('cache_creation_5m_input_tokens'),
    cache_creation_1h_input_tokens: add('cache_creation_1h_input_tokens'),
    cost_nano_usd:
      a.cost_nano_usd === null || b.cost_nano_usd === null ? null : toCount(a.cost_nano_usd + b.cost_nano_usd),
  };
}

/** All tokens, read and written. */
export function sumTokens(usage: UsageTotals): number {
  return toCount(
    usage.input_tokens +
      usage.output_tokens +
      usage.cache_read_input_tokens +
      usage.cache_creation_5m_input_tokens +
      usage.cache_creation_1h_input_tokens,
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
    input_tokens: toCount(usage?.inputTokens),
    output_tokens: toCount(usage?.outputTokens),
    cache_read_input_tokens: toCount(usage?.cacheReadTokens),
    cache_creation_5m_input_tokens: toCount(usage?.cacheWrite5mTokens),
    cache_creation_1h_input_tokens: toCount(usage?.cacheWrite1hTokens),
    cost_nano_usd: usage === null ? 0 : costNanoUsd === null ? null : toCount(costNanoUsd),
  };
}

/**
 * A whole number that every store can keep and every reader can read: endpoints, programs and imports report what they like, and a
 * sum beyond it could be written and not be read again.
 */
function toCount(reported = 0): number {
  return Number.isNaN(reported) ? 0 : Math.floor(Math.min(Math.max(reported, 0), Number.MAX_SAFE_INTEGER));
}

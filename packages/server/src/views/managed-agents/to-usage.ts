import type { Budget as WireBudget, MonetaryAmount, Usage } from '@fleetloom/protocol/managed-agents';
import type { Budget, UsageTotals } from '../../frames/payload-parts.ts';

/** Usage in the wire format. */
export function toWireUsage(usage: UsageTotals, activeMs: number): Usage {
  const { cost_nano_usd: cost } = usage;
  return {
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    cache_read_input_tokens: usage.cache_read_input_tokens,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cache_creation_5m_input_tokens,
      ephemeral_1h_input_tokens: usage.cache_creation_1h_input_tokens,
    },
    active_seconds: activeMs / 1_000,
    ...(cost === null ? {} : { list_cost: toAmount(cost) }),
  };
}

/** The wire has only a limit on cost. */
export function toWireBudget(budget: Budget | null): WireBudget | null {
  if (budget?.cost_nano_usd === null || budget?.cost_nano_usd === undefined) return null;
  return { type: 'limit', max_list_cost: toAmount(budget.cost_nano_usd) };
}

const NANO_PER_CENT = 10_000_000;

function toAmount(nanoUsd: number): MonetaryAmount {
  return { amount: String(Math.round(nanoUsd / NANO_PER_CENT)), currency: 'USD' };
}

/** The budget that a client sets. */
export function fromWireBudget({ max_list_cost: { amount } }: WireBudget): Budget {
  return { cost_nano_usd: Number(amount) * NANO_PER_CENT, tokens: null, requests: null, wall_ms: null };
}

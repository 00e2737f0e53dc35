import { formatCost } from '../../text/format.ts';
import type { TokenUsage } from '../wire/events.ts';

/** The usage of model requests. */
export interface FleetUsage {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheCreateTokens: number;
  /** Cost of the requests whose price is known. */
  readonly costUsd: number;
  /** Requests without a known price: if there are any, `costUsd` is not the whole cost. */
  readonly requestsWithoutCost: number;
}

/** The usage before the first model request. */
export const noUsage: FleetUsage = {
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheCreateTokens: 0,
  costUsd: 0,
  requestsWithoutCost: 0,
};

/** The sum of two usages. */
export function addUsage(sum: FleetUsage, more: FleetUsage): FleetUsage {
  return {
    requests: sum.requests + more.requests,
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    cacheReadTokens: sum.cacheReadTokens + more.cacheReadTokens,
    cacheCreateTokens: sum.cacheCreateTokens + more.cacheCreateTokens,
    costUsd: sum.costUsd + more.costUsd,
    requestsWithoutCost: sum.requestsWithoutCost + more.requestsWithoutCost,
  };
}

/** All tokens of the requests: input, output, read from the cache and written to it. */
export function tokensOf({ inputTokens, outputTokens, cacheReadTokens, cacheCreateTokens }: FleetUsage): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheCreateTokens;
}

/** The cost as text: `$0.50`, `$0.50+` where some requests have no known cost, `–` where none has. */
export function formatUsageCost({ costUsd, requestsWithoutCost }: FleetUsage, unknown = '–'): string {
  if (requestsWithoutCost === 0) return formatCost(costUsd);
  return costUsd === 0 ? unknown : `${formatCost(costUsd)}+`;
}

/** The usage of one model request. */
export function toUsage(event: TokenUsage): FleetUsage {
  return {
    requests: 1,
    inputTokens: event.input_tokens,
    outputTokens: event.output_tokens,
    cacheReadTokens: event.cache_read_tokens,
    cacheCreateTokens: event.cache_create_tokens,
    costUsd: event.cost_usd ?? 0,
    requestsWithoutCost: event.cost_usd === undefined ? 1 : 0,
  };
}

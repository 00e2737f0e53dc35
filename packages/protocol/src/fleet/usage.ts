import type { TokenUsage } from './events.ts';

/** What model requests took. */
export interface FleetUsage {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheCreateTokens: number;
  /** Of the requests whose cost is known. */
  readonly costUsd: number;
  /** Requests whose cost is not known: as long as there are any, `costUsd` is not all. */
  readonly requestsWithoutCost: number;
}

export const noUsage: FleetUsage = {
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheCreateTokens: 0,
  costUsd: 0,
  requestsWithoutCost: 0,
};

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

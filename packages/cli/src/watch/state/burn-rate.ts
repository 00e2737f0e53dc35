import type { FleetEvent } from '@fleetloom/protocol/fleet';

/** The cost of the last minute. */
export class BurnRate {
  #costs: { readonly ts: number; readonly usd: number }[] = [];

  take(event: FleetEvent): void {
    if (event.type !== 'token_usage' || event.ts === null || event.cost_usd === undefined) return;
    const { ts, cost_usd: usd } = event;
    this.#costs.push({ ts, usd });
    const first = this.#costs.findIndex((cost) => cost.ts > ts - MINUTE_MS);
    if (first > 0) this.#costs = this.#costs.slice(first);
  }

  /** The cost of the last minute in US dollars. */
  lastMinute(nowMs: number): number {
    const isIn = ({ ts }: { readonly ts: number }) => ts > nowMs - MINUTE_MS && ts <= nowMs;
    return this.#costs.filter(isIn).reduce((sum, { usd }) => sum + usd, 0);
  }
}

const MINUTE_MS = 60_000;

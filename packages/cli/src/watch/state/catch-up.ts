import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { plural } from '@fleetloom/protocol/text';

/** Counts events that were missed while disconnected, and reports once when all have arrived (SPEC Y26). */
export class CatchUp {
  #isLost = false;
  #counting: { readonly sinceMs: number; readonly gaps: number; events: number } | undefined;

  lost(): void {
    this.#isLost = true;
    this.#counting = undefined;
  }

  found(nowMs: number, gaps: number): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    this.#counting = { sinceMs: nowMs, gaps, events: 0 };
  }

  take({ ts }: FleetEvent): void {
    // Events after the reconnect do not count.
    if (this.#counting !== undefined && ts !== null && ts <= this.#counting.sinceMs) this.#counting.events += 1;
  }

  /** The notice, once, when no missed event can be outstanding. */
  report(nowMs: number, gaps: number): string | undefined {
    const counting = this.#counting;
    if (counting === undefined || nowMs - counting.sinceMs < SETTLED_MS) return undefined;
    this.#counting = undefined;
    const missing = gaps - counting.gaps;
    return `Reconnected: received ${plural(counting.events, 'event')}, ${plural(missing, 'gap')}.`;
  }
}

/** Missed events arrive in one burst. */
const SETTLED_MS = 1_000;

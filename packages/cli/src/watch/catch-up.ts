import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { formatPlural } from '../terminal/format.ts';

/** Counts what came late because there was no connection, and says so once it has all come (SPEC Y26). */
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
    // What happened after it was found is no catching up.
    if (this.#counting !== undefined && ts !== null && ts <= this.#counting.sinceMs) this.#counting.events += 1;
  }

  /** What to say, once: when nothing more of it can be on the way. */
  tell(nowMs: number, gaps: number): string | undefined {
    const counting = this.#counting;
    if (counting === undefined || nowMs - counting.sinceMs < SETTLED_MS) return undefined;
    this.#counting = undefined;
    const missing = gaps - counting.gaps;
    return `Connected again: caught up ${formatPlural(counting.events, 'event')}, ${formatPlural(missing, 'gap')}.`;
  }
}

/** What was missed comes in one go. */
const SETTLED_MS = 1_000;

import { rmdirSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { ignoringFailure } from '../../../base/in-background.ts';
import { systemSchedule } from '../../../base/schedule.ts';

/**
 * Removes cgroups once they are empty. The kernel refuses to remove a group that has processes, so it is safe to try
 * each group again until it is gone.
 */
export class GroupSweeper {
  /** Groups, inner groups first, with the earliest time of their removal. */
  readonly #due = new Map<string, number>();
  #isScheduled = false;
  readonly #everyMs: number;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** Removes a group as soon as it is empty, but only after the delay: a new group is empty until a process joins it. */
  add(group: string, delayMs: number): void {
    this.#due.set(group, performance.now() + delayMs);
    this.#schedule();
  }

  /** Tries each group once, when the process ends. The next server removes groups that are still in use. */
  removeNow(): void {
    for (const group of this.#due.keys()) {
      try {
        rmdirSync(group);
      } catch {
        // In use, or gone.
      }
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#due.size === 0) return;
    this.#isScheduled = true;
    systemSchedule(() => ignoringFailure(this.#sweep()), this.#everyMs);
  }

  async #sweep(): Promise<void> {
    for (const [group, since] of this.#due) {
      if (since <= performance.now() && (await isRemoved(group))) this.#due.delete(group);
    }
    this.#isScheduled = false;
    this.#schedule();
  }
}

async function isRemoved(group: string): Promise<boolean> {
  try {
    await rmdir(group);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}

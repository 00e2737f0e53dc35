import { fileLimits } from './limits.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import { requestError } from '../base/request-error.ts';

/**
 * Scans of the outputs of sessions: one at a time for each workspace. Callers share a scan that has not begun. A scan that has begun
 * may already have passed a file that was written just before the call.
 */
export class OutputScans<Result> {
  /** The scans that have not begun, by session. */
  readonly #waiting = new Map<string, Promise<Result>>();
  readonly #lanes = new Map<string, Lane>();

  async share(workspaceId: string, sessionId: string, scan: () => Promise<Result>): Promise<Result> {
    const result = await (this.#waiting.get(sessionId) ?? this.#begin(workspaceId, sessionId, scan));
    // Resumes one caller per turn of the event loop, because each caller writes a page.
    await yieldToEventLoop(0);
    return result;
  }

  #begin(workspaceId: string, sessionId: string, scan: () => Promise<Result>): Promise<Result> {
    const lane = this.#lanes.get(workspaceId) ?? { last: Promise.resolve(), scans: 0 };
    // The running scan does not count as waiting.
    if (lane.scans > fileLimits.outputScansWaitingMax) {
      throw requestError('too_many_requests', `${lane.scans - 1} lists of outputs of this workspace are waiting`);
    }
    this.#lanes.set(workspaceId, lane);
    lane.scans++;
    const work = lane.last.then(async () => {
      this.#waiting.delete(sessionId);
      try {
        return await scan();
      } finally {
        lane.scans--;
        if (lane.scans === 0) this.#lanes.delete(workspaceId);
      }
    });
    // A failure is reported to the callers of that scan only.
    lane.last = work.catch(() => undefined);
    this.#waiting.set(sessionId, work);
    return work;
  }
}

interface Lane {
  last: Promise<unknown>;
  scans: number;
}

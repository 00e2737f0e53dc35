import type { Schedule } from '../base/schedule.ts';

/** The work to repeat, and its interval. */
export interface RepeatOptions {
  readonly run: () => Promise<void>;
  readonly everyMs: number;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
}

/** Runs work again and again, each time after the last one has ended. `close` runs it once more. */
export function repeat({ run, everyMs, schedule, onProblem }: RepeatOptions): { close(): Promise<void> } {
  let isClosed = false;
  let running = Promise.resolve();
  let cancel = schedule(turn, everyMs);
  return {
    close: async () => {
      isClosed = true;
      cancel();
      await running;
      await run().catch(onProblem);
    },
  };

  function turn(): void {
    running = run()
      .catch(onProblem)
      .then(() => {
        if (!isClosed) cancel = schedule(turn, everyMs);
      });
  }
}

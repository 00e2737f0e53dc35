import { reportAsWarning } from '../../../base/in-background.ts';

/** Runs what handles foreign bytes. An error is reported, and returned for people; it reaches no other session. */
export function contain(run: () => void): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    reportAsWarning(error);
    return error instanceof Error ? error.message : String(error);
  }
}

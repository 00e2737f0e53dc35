import { reportAsWarning } from '../../../base/in-background.ts';

/** Runs code that handles output of a program. An error is reported as a warning, and its message is returned; it does not affect other sessions. */
export function contain(run: () => void): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    reportAsWarning(error);
    return error instanceof Error ? error.message : String(error);
  }
}

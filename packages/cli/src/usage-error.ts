import { CommandError } from './command-error.ts';
import { exitCode } from './exit-code.ts';

/** The caller's mistake: says what is wrong and what to do about it. Ends with exit code 2. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError';

  constructor(message: string, fix: string) {
    super(exitCode.usage, message, fix);
  }
}

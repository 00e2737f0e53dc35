import { CommandError, type CommandErrorOptions } from './command-error.ts';
import { exitCode } from './exit-code.ts';

/** Wrong usage by the caller. Exits with 2. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError';

  constructor(message: string, fix: string, options: CommandErrorOptions = {}) {
    super(exitCode.usage, message, fix, options);
  }
}

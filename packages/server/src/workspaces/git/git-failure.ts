/** A git command that could not be started, failed, took too long or wrote too much. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure';
  /** The exit code; null if it did not start, or a signal ended it. */
  readonly code: number | null;
  /** What git wrote to stderr, bounded and without control characters. */
  readonly stderr: string;

  constructor(message: string, details: { code: number | null; stderr: string; cause?: unknown }) {
    super(message, { cause: details.cause });
    this.code = details.code;
    this.stderr = details.stderr;
  }
}

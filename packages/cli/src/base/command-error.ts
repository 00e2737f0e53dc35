/** Why a command failed: what happened (`message`), how to fix it (`fix`), and the exit code. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
  readonly fix: string;
  readonly exitCode: number;
  /** The code of the error on the server, if it comes from there. */
  readonly code: string | undefined;
  /** What else the server reports about it, by field. */
  readonly details: Readonly<Record<string, unknown>>;
  /** The whole error as the server returned it, for programs. */
  readonly answer: unknown;

  constructor(exitCode: number, message: string, fix: string, options: CommandErrorOptions = {}) {
    super(message, options);
    this.exitCode = exitCode;
    this.code = options.code;
    this.details = options.details ?? {};
    this.answer = options.answer;
    this.fix = fix;
  }
}

/** What is known of an error that comes from a server. */
export interface CommandErrorOptions extends ErrorOptions {
  readonly code?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly answer?: unknown;
}

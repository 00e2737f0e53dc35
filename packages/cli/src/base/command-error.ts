/** Why a command failed: what happened (`message`), how to fix it (`fix`), and the exit code. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
  readonly fix: string;
  readonly exitCode: number;
  /** The error code of the server, if the server reported the error. */
  readonly code: string | undefined;
  /** The other fields of the server's error, by name. */
  readonly details: Readonly<Record<string, unknown>>;
  /** The whole error response of the server, for programs. */
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

/** The parts of an error that a server reported. */
export interface CommandErrorOptions extends ErrorOptions {
  readonly code?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly answer?: unknown;
}

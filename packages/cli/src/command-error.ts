/** Why a command cannot do what it was asked for: what is wrong, what to do about it, and what the shell is told. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
  readonly fix: string;
  readonly exitCode: number;

  constructor(exitCode: number, message: string, fix: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
    this.fix = fix;
  }
}

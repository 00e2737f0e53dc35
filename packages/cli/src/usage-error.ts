/** The caller's mistake: says what is wrong and what to do about it. Ends with exit code 2. */
export class UsageError extends Error {
  readonly fix: string;

  constructor(message: string, fix: string) {
    super(message);
    this.name = 'UsageError';
    this.fix = fix;
  }
}

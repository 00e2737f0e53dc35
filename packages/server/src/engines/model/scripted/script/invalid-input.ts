/**
 * A path in a value from outside and the problem there: `turns[0][2].call` `must be a string, got a number`.
 *
 * Thrown only below `parseScript`, `checkRequest` and `planAnswer`, which return it as data. A result to unwrap on every
 * line would hide what is checked.
 */
export class InvalidInput extends Error {
  override readonly name = 'InvalidInput';
  readonly path: string;
  readonly problem: string;

  constructor(path: string, problem: string) {
    super(path === '' ? problem : `${path}: ${problem}`);
    this.path = path;
    this.problem = problem;
  }
}

/** Returns the `InvalidInput` that the work throws, or its result. Any other error is a defect and is thrown on. */
export function* catchInvalidInput<T>(work: Generator<void, T>): Generator<void, T | InvalidInput> {
  try {
    return yield* work;
  } catch (error) {
    if (error instanceof InvalidInput) return error;
    throw error;
  }
}

/**
 * A place in a value from outside, and what is wrong there: `turns[0][2].call` `must be a string, got a number`.
 *
 * Thrown only between the checks of this folder and their doors (`parseScript`, `checkRequest`, `planAnswer`), which
 * turn it into data. A result to unwrap on every line would hide what is checked.
 */
export class Misfit extends Error {
  override readonly name = 'Misfit';
  readonly path: string;
  readonly problem: string;

  constructor(path: string, problem: string) {
    super(path === '' ? problem : `${path}: ${problem}`);
    this.path = path;
    this.problem = problem;
  }
}

/** The misfit that the work throws, or what it returns. Anything else thrown is our own mistake and goes on. */
export function* catchMisfit<T>(work: Generator<void, T>): Generator<void, T | Misfit> {
  try {
    return yield* work;
  } catch (error) {
    if (error instanceof Misfit) return error;
    throw error;
  }
}

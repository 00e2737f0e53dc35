import { GitFailure } from '../../git/git-failure.ts';

/** The error for an object of a recorded tree that neither the snapshots nor the user's repository have. */
export class MissingObject extends Error {
  override readonly name = 'MissingObject';

  constructor(object: string) {
    super(`the object ${object} does not exist`);
  }
}

/** Whether an error reports a missing object, including errors of git. */
export function isMissingObject(error: unknown): boolean {
  return error instanceof MissingObject || (error instanceof GitFailure && GIT_WORDS.test(error.stderr));
}

const GIT_WORDS = /\b(bad (object|tree)|not a tree object|unable to (read|find|get)|could not (read|parse|get))\b/i;

import { join } from 'node:path';

/** The root directory of the repository. */
export const repositoryRoot = join(import.meta.dirname, '..', '..');

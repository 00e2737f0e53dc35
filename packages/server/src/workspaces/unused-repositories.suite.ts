import type { RepositorySources } from './repository-sources.ts';

const unused = () => Promise.reject(new Error('this test has no repositories'));

/** Repository sources for tests that use only directories. */
export const unusedRepositories: RepositorySources = { add: unused, check: unused, addAgain: unused, rotate: unused };

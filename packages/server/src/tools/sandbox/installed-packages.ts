import type { ReadOnlyPath } from './sandbox.ts';

/** The mounts and variables with which sandboxes get the packages of an environment. */
export interface InstalledPackages {
  readonly readOnlyPaths: readonly ReadOnlyPath[];
  /** Variables with which programs find them. */
  readonly environment: Readonly<Record<string, string>>;
  /** Directories with their programs. */
  readonly searchPath: readonly string[];
}

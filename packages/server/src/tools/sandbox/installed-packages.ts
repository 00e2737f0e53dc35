import type { ReadOnlyPath } from './sandbox.ts';

/** The packages of an environment, as sandboxes of its sessions have them. */
export interface InstalledPackages {
  readonly readOnlyPaths: readonly ReadOnlyPath[];
  /** Variables with which programs find them. */
  readonly environment: Readonly<Record<string, string>>;
  /** Directories with their programs. */
  readonly searchPath: readonly string[];
}

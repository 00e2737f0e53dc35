import { describe } from 'vitest';

/** A real agent program that `npm run test:engines` has installed. */
export interface InstalledProgram {
  readonly name: ProgramName;
  readonly version: string;
  readonly path: string;
}

/** The programs of `scripts/support/programs.mjs`. */
export type ProgramName = 'claude-code' | 'codex' | 'opencode';

/**
 * Tests that need a real agent program, once for each installed version. They are skipped outside of `npm run test:engines`,
 * which sets the paths: the programs are some hundred megabytes.
 *
 * @example
 * describeWithProgram('codex', 'the engine', ({ path }) => {
 *   it('[J1] …', …);
 * });
 */
export function describeWithProgram(name: ProgramName, what: string, body: (program: InstalledProgram) => void): void {
  const versions = Object.entries(installed[name] ?? {});
  for (const [version, path] of versions) describe(`${what} (${name} ${version})`, () => body({ name, version, path }));
  if (versions.length === 0) describe.skip(what, () => body({ name, version: '', path: '' }));
}

/**
 * Tests that need several real agent programs at once: the newest installed version of each. They are skipped where one is missing.
 */
export function describeWithPrograms<Name extends ProgramName>(
  names: readonly Name[],
  what: string,
  body: (paths: Readonly<Record<Name, string>>) => void,
): void {
  const paths = names.map((name) => [name, Object.values(installed[name] ?? {}).at(-1)] as const);
  const isComplete = paths.every(([, path]) => path !== undefined);
  // The cast: every name has its path, or the tests do not run.
  describe.skipIf(!isComplete)(what, () => body(Object.fromEntries(paths) as Record<Name, string>));
}

/** Whether this is `npm run test:engines`. */
export const hasPrograms = process.env['FLEETLOOM_TEST_PROGRAMS'] !== undefined;

// The cast: the only writer of the variable is scripts/test-engines.mjs.
const installed = JSON.parse(process.env['FLEETLOOM_TEST_PROGRAMS'] ?? '{}') as Partial<
  Record<ProgramName, Readonly<Record<string, string>>>
>;

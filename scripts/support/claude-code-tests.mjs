import { listFiles } from './source-files.mjs';

/** The tests with the real claude program. */
export const claudeCodeTests = 'test/claude-code';

/** Tests of recordings: they need no program. */
export const recordedTests = [`${claudeCodeTests}/recordings.test.ts`, `${claudeCodeTests}/imported-log.test.ts`];

/** What `npm test` runs of them: the scenarios that are marked for it, a kill and a restart among them. */
const selected = [...recordedTests, `${claudeCodeTests}/scenarios/`];

/** The files that only `npm run test:claude-code` runs, and `npm test` with `FLEETLOOM_LONG=1`. */
export function listLongClaudeCodeTests(root) {
  const tests = listFiles(root, claudeCodeTests).filter((path) => path.endsWith('.test.ts'));
  return tests.filter((path) => !selected.some((prefix) => path.startsWith(prefix)));
}

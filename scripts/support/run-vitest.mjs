import { existsSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readJson, repositoryRoot, toolPath } from './root.mjs';
import { run } from './run.mjs';
import { say } from './say.mjs';

/** Failed files that are run again: more failures have another cause than a busy machine. */
const repeatedFilesMax = 5;

/**
 * Runs vitest and returns how it ended, with its JSON report, or without one if it died. Where failed tests are tried again
 * (`FLEETLOOM_TEST_RETRIES`, in CI), up to five files that failed nevertheless are run once more after all others, one at a time: on
 * a shared machine a test may be starved for longer than its own retries take. The output of the first run is above that of the second.
 */
export async function runVitest(args, { env = {}, name = 'test', root = repositoryRoot } = {}) {
  const first = await runOnce(args, { env, root, reportPath: join(root, '.cache', `${name}-results.json`) });
  if (first.code === 0 || !(Number(process.env.FLEETLOOM_TEST_RETRIES) > 0)) return first;
  const files = listFailedFiles(first.report, root);
  if (files.length === 0 || files.length > repeatedFilesMax) return first;
  say(`\nOnce more, alone: ${files.join(', ')}\n`);
  const options = { env, root, reportPath: join(root, '.cache', `${name}-results-again.json`) };
  const second = await runOnce([...files, '--no-file-parallelism', ...optionsOf(args)], options);
  return { ...second, report: mergeReports(first.report, second.report) };
}

async function runOnce(args, { env, root, reportPath }) {
  // A report left over from last time must not be counted if vitest dies before it writes its own.
  rmSync(reportPath, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportPath}`];
  const ended = await run(process.execPath, [toolPath('vitest'), 'run', ...reporters, ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    inherit: true,
  });
  return { ...ended, report: existsSync(reportPath) ? readJson(reportPath) : undefined };
}

function listFailedFiles(report, root) {
  const failed = report?.testResults.filter((file) => file.status === 'failed') ?? [];
  return failed.map((file) => relative(root, file.name));
}

/** The report of the first run with the results of the files that were run again. */
function mergeReports(first, second) {
  if (first === undefined || second === undefined) return second;
  const again = new Map(second.testResults.map((file) => [file.name, file]));
  const replaced = first.testResults.filter((file) => again.has(file.name));
  const countOf = (files, ...statuses) =>
    files.flatMap((file) => file.assertionResults).filter(({ status }) => statuses.includes(status)).length;
  const merge = (...statuses) =>
    countOf(first.testResults, ...statuses) - countOf(replaced, ...statuses) + countOf(second.testResults, ...statuses);
  return {
    ...first,
    numPassedTests: merge('passed'),
    numFailedTests: merge('failed'),
    numPendingTests: merge('pending', 'skipped', 'disabled'),
    numTodoTests: merge('todo'),
    testResults: first.testResults.map((file) => again.get(file.name) ?? file),
  };
}

/** `--exclude path` and the like, without the files. */
function optionsOf(args) {
  return args.filter((arg, at) => arg.startsWith('-') || args[at - 1] === '--exclude');
}

import { relative } from 'node:path';

/** A log that is cut has its end, so the error must fit there. */
const errorLinesMax = 12;

/** The failed tests of vitest's JSON report, one text each: file, title and the beginning of the error, up to `max` of them. */
export function listFailures(report, { root, max = 20 }) {
  const files = report?.testResults.filter((file) => file.status === 'failed') ?? [];
  const failures = files.flatMap((file) => failuresOf(file, relative(root, file.name)));
  const more = failures.length - max;
  return more > 0 ? [...failures.slice(0, max), `and ${more} more`] : failures;
}

function failuresOf({ assertionResults, message }, path) {
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return [`FAILED ${path}\n${beginningOf(message)}`];
  return failed.map(
    ({ fullName, failureMessages }) => `FAILED ${path} › ${fullName}\n${beginningOf(failureMessages.at(-1))}`,
  );
}

function beginningOf(text = '') {
  return text
    .split('\n')
    .slice(0, errorLinesMax)
    .map((line) => `  ${line.slice(0, 300)}`)
    .join('\n');
}

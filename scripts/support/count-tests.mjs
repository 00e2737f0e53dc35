/**
 * The last line of `npm test`, from vitest's JSON report: `12 passed, 0 failed`, with `, 3 skipped` if any were.
 * A file that could not even be loaded has no tests to count, so it counts as one failure.
 */
export function countTests(report) {
  const unloaded = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
  const failed = report.numFailedTests + unloaded.length;
  const skipped = report.numPendingTests + report.numTodoTests;
  return `${report.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

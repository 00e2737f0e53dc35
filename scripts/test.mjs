import { setUp } from './setup.mjs';
import { programPath } from './support/bundle-program.mjs';
import { ensureChromium } from './support/chromium.mjs';
import { listLongClaudeCodeTests } from './support/claude-code-tests.mjs';
import { countTests } from './support/count-tests.mjs';
import { listFailures } from './support/list-failures.mjs';
import { startPostgres } from './support/postgres.mjs';
import { ensureSandbox } from './support/sandbox.mjs';
import { repositoryRoot } from './support/root.mjs';
import { exitLike } from './support/run.mjs';
import { runVitest } from './support/run-vitest.mjs';
import { say, seconds, withProgress } from './support/say.mjs';
import { listFiles } from './support/source-files.mjs';
import { openTemporaryFiles } from './support/temporary-files.mjs';

// `npm test` runs everything, of the tests with the real claude program a part: `npm run test:claude-code` runs all of them.
// `npm test -- sse` runs the files with sse in their path: arguments after `--` are passed to vitest, except --no-browser,
// which skips the browser tests.
const browserTests = 'test/browser';
// They are skipped without the programs that `npm run test:engines` installs: not loading them saves some seconds.
const engineTests = 'test/engines';

const startedAt = Date.now();
const args = process.argv.slice(2).filter((arg) => arg !== '--');
/** Whether only the files that the arguments name are run. */
const isPart = args.some((arg) => !arg.startsWith('-'));
await setUp({ build: true });
await ensureSandbox();
const browser = await prepareBrowser();
const files = openTemporaryFiles();
process.env.TMPDIR = files.path;
const postgres = await preparePostgres();
const program = prepareProgram();
const result = await runTests(browser, postgres, program);
await postgres.stop();
console.log(`took ${seconds(startedAt)}`);
printCounts();
files.remove();
exitLike(result);

async function prepareBrowser() {
  if (args.includes('--no-browser')) return { args: ['--exclude', `${browserTests}/**`], env: {} };
  if (listFiles(repositoryRoot, browserTests).length === 0) return { args: [], env: {} };
  const chromium = await ensureChromium();
  // The tests must fail rather than be skipped: a green run includes the dashboard.
  return { args: [], env: chromium === undefined ? { FLEETLOOM_NO_BROWSER: '1' } : { FLEETLOOM_CHROMIUM: chromium } };
}

/** Starts one PostgreSQL for all files. When only some are run, each file that needs one starts its own. */
async function preparePostgres() {
  const nothing = { env: {}, stop: async () => {} };
  if (process.env.FLEETLOOM_TEST_DATABASE !== undefined || isPart) return nothing;
  let postgres;
  await withProgress('starting PostgreSQL', async () => (postgres = await startPostgres()));
  const env = { FLEETLOOM_TEST_DATABASE: postgres.url, FLEETLOOM_TEST_DATABASE_STARTED: '1' };
  return { env, stop: () => postgres.stop() };
}

/** The program that the tests start: the bundled one, or the compiled files if only some test files are run. */
function prepareProgram() {
  return { env: isPart ? {} : { FLEETLOOM_TEST_PROGRAM: programPath() } };
}

function runTests(browser, postgres, program) {
  const passedOn = args.filter((arg) => arg !== '--no-browser');
  const isAll = process.env.FLEETLOOM_LONG === '1' || isPart;
  const long = isAll ? [] : [...listLongClaudeCodeTests(repositoryRoot), `${engineTests}/**`];
  const leftOut = long.flatMap((path) => ['--exclude', path]);
  return runVitest([...browser.args, ...leftOut, ...passedOn], {
    env: { ...browser.env, ...postgres.env, ...program.env },
  });
}

function printCounts() {
  if (result.report === undefined) return say('vitest ended without a report; its output above has the reason.');
  const counts = countTests(result.report);
  const isUnexplained = result.code !== 0 && counts.includes(' 0 failed');
  if (isUnexplained) say('An error occurred outside the tests; see the output of vitest above.');
  if (result.code !== 0)
    listFailures(result.report, { root: repositoryRoot }).forEach((failure) => console.log(failure));
  console.log(counts);
}

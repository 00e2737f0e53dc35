import { setUp } from './setup.mjs';
import { claudeCodeTests, recordedTests } from './support/claude-code-tests.mjs';
import { listFailures } from './support/list-failures.mjs';
import { ensureProgram, versionsOf } from './support/programs.mjs';
import { repositoryRoot } from './support/root.mjs';
import { runVitest } from './support/run-vitest.mjs';
import { ensureSandbox } from './support/sandbox.mjs';
import { say, seconds } from './support/say.mjs';

// `npm run test:claude-code` runs the tests with the real claude program, on every supported version. Arguments after `--` are
// passed to vitest, except `--version 2.1.197`, which selects one. Tests of recordings run once.

const startedAt = Date.now();
const { versions, passedOn } = readArguments(process.argv.slice(2));
await setUp({ build: true });
await ensureSandbox();
const failed = [];
const failures = [];
if (passedOn.length === 0 && !(await areGreen(['test/stream-json', ...recordedTests])))
  failed.push('the recorded streams');
for (const version of versions) {
  if (!(await runVersion(version))) failed.push(version);
}
for (const failure of failures) console.log(failure);
console.log(failed.length === 0 ? `all good with claude ${versions.join(' and ')}` : `failed: ${failed.join(', ')}`);
console.log(`took ${seconds(startedAt)}`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function runVersion(version) {
  const program = await ensureProgram('claude-code', version);
  if (program.reason !== undefined) {
    say(`\nclaude-code ${version} was not installed: ${program.reason}\n`);
    return false;
  }
  say(`\nclaude ${version}`);
  const leftOut = recordedTests.flatMap((path) => ['--exclude', path]);
  const env = { FLEETLOOM_CLAUDE_CODE_VERSION: version, FLEETLOOM_CLAUDE_CODE_REQUIRED: '1' };
  return await areGreen([claudeCodeTests, ...leftOut, ...passedOn], env);
}

async function areGreen(args, env) {
  const { code, report } = await runVitest(args, { env, name: 'claude-code' });
  if (code !== 0) failures.push(...listFailures(report, { root: repositoryRoot }));
  return code === 0;
}

function readArguments(args) {
  const rest = args.filter((arg) => arg !== '--');
  const at = rest.indexOf('--version');
  if (at === -1) return { versions: versionsOf('claude-code'), passedOn: rest };
  return { versions: [rest[at + 1]], passedOn: rest.toSpliced(at, 2) };
}

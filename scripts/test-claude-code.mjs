import { setUp } from './setup.mjs';
import { claudeCodeVersions, ensureClaudeCode } from './support/claude-code.mjs';
import { repositoryRoot, toolPath } from './support/root.mjs';
import { run } from './support/run.mjs';
import { say, seconds } from './support/say.mjs';

// `npm run test:claude-code` runs what talks to the real claude program, on every version that we know. Whatever follows
// `--` goes to vitest, except `--version 2.1.197`, which chooses one.
const folders = ['test/claude-code', 'packages/server/src/engines/claude-code'];

const startedAt = Date.now();
const { versions, passedOn } = readArguments(process.argv.slice(2));
await setUp({ build: true });
const failed = [];
for (const version of versions) {
  if (!(await runVersion(version))) failed.push(version);
}
console.log(failed.length === 0 ? `all good with claude ${versions.join(' and ')}` : `failed: ${failed.join(', ')}`);
console.log(`took ${seconds(startedAt)}`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function runVersion(version) {
  const program = await ensureClaudeCode(version);
  if (program.reason !== undefined) say(`\nTHERE IS NO CLAUDE CODE ${version} HERE: ${program.reason}\n`);
  // The recorded streams of the program need no program: they are read in any case.
  const where = program.reason === undefined ? folders : ['test/stream-json'];
  const env = { FLEETLOOM_CLAUDE_CODE_VERSION: version, FLEETLOOM_CLAUDE_CODE_REQUIRED: '1' };
  say(`\nclaude ${version}`);
  const { code } = await run(process.execPath, [toolPath('vitest'), 'run', ...where, ...passedOn], {
    cwd: repositoryRoot,
    env: { ...process.env, ...env },
    inherit: true,
  });
  return code === 0 && program.reason === undefined;
}

function readArguments(args) {
  const rest = args.filter((arg) => arg !== '--');
  const at = rest.indexOf('--version');
  if (at === -1) return { versions: claudeCodeVersions, passedOn: rest };
  return { versions: [rest[at + 1]], passedOn: rest.toSpliced(at, 2) };
}

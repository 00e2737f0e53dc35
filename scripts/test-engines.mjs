import { setUp } from './setup.mjs';
import { listFailures } from './support/list-failures.mjs';
import { ensureProgram, programNames, versionsOf } from './support/programs.mjs';
import { repositoryRoot } from './support/root.mjs';
import { runVitest } from './support/run-vitest.mjs';
import { ensureSandbox } from './support/sandbox.mjs';
import { giveUp, say, seconds } from './support/say.mjs';

// `npm run test:engines` runs test/engines with the real agent programs. Arguments after `--` are passed to vitest, except
// `--program codex`, which selects one. FLEETLOOM_TEST_PROGRAMS has their paths: `{"codex":{"0.166.0":"…"}}`.
const budgetMinutes = 15;

const startedAt = Date.now();
const { selected, passedOn } = readArguments(process.argv.slice(2));
await setUp({ build: true });
await ensureSandbox();
const failed = [];
const failures = [];
const paths = await installAll(selected);
if (Object.keys(paths).length > 0 && !(await areGreen())) failed.push('the tests');
if (Date.now() - startedAt > budgetMinutes * 60_000) say(`\nThis took longer than ${budgetMinutes} minutes.`);
for (const failure of failures) console.log(failure);
console.log(failed.length === 0 ? `all good with ${selected.join(', ')}` : `failed: ${failed.join(', ')}`);
console.log(`took ${seconds(startedAt)}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** The paths by program and version. A program that cannot be installed is missing, and fails this command at its end. */
async function installAll(names) {
  const installed = {};
  for (const [name, version] of names.flatMap((each) => versionsOf(each).map((version) => [each, version]))) {
    const { path, reason } = await ensureProgram(name, version);
    if (path !== undefined) installed[name] = { ...installed[name], [version]: path };
    else {
      say(`\n${name} ${version} was not installed, so its tests do not run: ${reason}\n`);
      failed.push(`${name} ${version}`);
    }
  }
  return installed;
}

async function areGreen() {
  const files = passedOn.some((arg) => !arg.startsWith('-')) ? passedOn : ['test/engines', ...passedOn];
  const env = { FLEETLOOM_TEST_PROGRAMS: JSON.stringify(paths) };
  const { code, report } = await runVitest(files, { env, name: 'engines' });
  if (code !== 0) failures.push(...listFailures(report, { root: repositoryRoot }));
  return code === 0;
}

function readArguments(args) {
  const rest = args.filter((arg) => arg !== '--');
  const at = rest.indexOf('--program');
  if (at === -1) return { selected: programNames, passedOn: rest };
  const name = rest[at + 1];
  if (!programNames.includes(name)) giveUp(`The programs are ${programNames.join(', ')}, not ${name}.`);
  return { selected: [name], passedOn: rest.toSpliced(at, 2) };
}

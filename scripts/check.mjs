import { existsSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { setUp } from './setup.mjs';
import { readJson, repositoryRoot, toolPath } from './support/root.mjs';
import { exitLike, run } from './support/run.mjs';
import { giveUp, seconds } from './support/say.mjs';
import { listFiles } from './support/source-files.mjs';

// Runs all static checks. `npm run check -- --only lint,types` selects; `npm run check -- --shape` prints the measured shape.

/** The checks in the order in which they start: long checks first, so that short ones fill the gaps. */
const checks = [
  { name: 'exports', commands: exportsCommands, needsBuild: true },
  { name: 'types', commands: () => [tool('typescript', 'tsc', ['-b'])], needsBuild: true },
  { name: 'lint', commands: () => [tool('oxlint', 'oxlint', ['--type-aware', '--deny-warnings', ...lintFolders()])] },
  { name: 'knip', commands: () => [tool('knip', 'knip', ['--no-progress', ...workspaceFilters()])] },
  {
    name: 'format',
    commands: () => [tool('@biomejs/biome', 'biome', ['format', '.', '--reporter=summary'])],
    advice: 'Run `npm run format` to fix it.\n',
  },
  { name: 'arrows', commands: () => [script('check-arrows.mjs')] },
  { name: 'shape', commands: () => [script('check-shape.mjs')] },
  { name: 'patterns', commands: () => [script('check-patterns.mjs')] },
  { name: 'spec', commands: () => [script('check-spec.mjs')] },
  { name: 'paths', commands: () => [script('check-paths.mjs')] },
  { name: 'links', commands: () => [script('check-links.mjs')] },
  { name: 'words', commands: () => [script('check-words.mjs')] },
];

const startedAt = Date.now();
const args = process.argv.slice(2);
if (args.join(' ') === '--shape') exitLike(await run(process.execPath, script('check-shape.mjs'), { inherit: true }));
else await checkAll(selectChecks(args));

async function checkAll(selected) {
  await setUp({ build: selected.some(({ needsBuild }) => needsBuild) });
  const failed = await runAll(selected);
  console.log(
    failed.length === 0 ? `all good, ${seconds(startedAt)}` : `failed: ${failed.join(', ')}, ${seconds(startedAt)}`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
}

function selectChecks(args) {
  const names = checks.map(({ name }) => name);
  const text = args.join(' ');
  if (text === '') return checks;
  const only = /^--only[ =]([a-z, ]+)$/.exec(text)?.[1].split(/[, ]+/) ?? [];
  if (only.length === 0 || only.some((name) => !names.includes(name))) {
    giveUp(`Usage: npm run check -- --only ${names.join(',')}`);
  }
  return checks.filter(({ name }) => only.includes(name));
}

/** Runs one check per core at a time; each prints a line when it ends, with its output if it failed. */
async function runAll(selected) {
  const waiting = [...selected];
  const failed = [];
  await Promise.all(Array.from({ length: Math.max(1, os.cpus().length) }, work));
  return failed;

  async function work() {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const startedAt = Date.now();
      const complaints = await runCheck(check);
      const isOk = complaints === '';
      if (!isOk) failed.push(check.name);
      console.log(`${isOk ? '✓' : '✗'} ${check.name.padEnd(8)} ${seconds(startedAt)}${complaints}`);
    }
  }
}

async function runCheck({ commands, advice = '' }) {
  const options = {
    cwd: repositoryRoot,
    env: process.stdout.isTTY ? { FORCE_COLOR: '1', ...process.env } : process.env,
  };
  const results = await Promise.all(commands().map((args) => run(process.execPath, args, options)));
  const failures = results.filter(({ code }) => code !== 0);
  const complaints = failures.map(({ code, output }) => `\n${output.trimEnd() || `ended with code ${code}`}\n`);
  return failures.length === 0 ? '' : `${complaints.join('')}${advice}`;
}

/** publint checks that the files named in package.json exist; attw checks that TypeScript finds the types. */
function exportsCommands() {
  return writtenPackages().flatMap((folder) => {
    const { exports, private: isPrivate } = readJson(join(repositoryRoot, folder, 'package.json'));
    const publint = tool('publint', 'publint', ['run', folder, '--strict', '--pack', 'npm']);
    const attw = tool('@arethetypeswrong/cli', 'attw', ['--pack', folder, '--profile=esm-only', '--format=ascii']);
    if (isPrivate) return [];
    return exports === undefined ? [publint] : [publint, attw];
  });
}

function workspaceFilters() {
  return ['.', ...writtenPackages()].map((folder) => `--workspace=${folder}`);
}

/** Packages with sources: the others have neither exports nor uses for their dependencies yet. */
function writtenPackages() {
  const folders = readJson(join(repositoryRoot, 'tsconfig.json')).references.map(({ path }) => path);
  return folders.filter((folder) => listFiles(repositoryRoot, `${folder}/src`).length > 0);
}

/** oxlint fails for folders that do not exist. */
function lintFolders() {
  return ['packages', 'scripts', 'test', 'bench', 'examples'].filter((folder) =>
    existsSync(join(repositoryRoot, folder)),
  );
}

function tool(packageName, toolName, args) {
  return [toolPath(packageName, toolName), ...args];
}

function script(name) {
  return [join(repositoryRoot, 'scripts', name)];
}

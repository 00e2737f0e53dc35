import { existsSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { setUp } from './setup.mjs';
import { readJson, repositoryRoot, toolPath } from './support/root.mjs';
import { run } from './support/run.mjs';
import { giveUp, seconds } from './support/say.mjs';

// Everything that can be said about the code without running it. `npm run check -- --only lint,types` selects.

/** In the order in which they start; the long ones first, so that the short ones fill the gaps. */
const checks = [
  { name: 'types', commands: () => [tool('typescript', 'tsc', ['-b'])], needsBuild: true },
  { name: 'exports', commands: exportsCommands, needsBuild: true },
  { name: 'lint', commands: () => [tool('oxlint', 'oxlint', ['--type-aware', '--deny-warnings', ...sourceFolders()])] },
  { name: 'knip', commands: () => [tool('knip', 'knip', ['--no-progress'])] },
  { name: 'format', commands: () => [tool('@biomejs/biome', 'biome', ['format', '.'])] },
  { name: 'arrows', commands: () => [script('check-arrows.mjs')] },
  { name: 'spec', commands: () => [script('check-spec.mjs')] },
  { name: 'paths', commands: () => [script('check-paths.mjs')] },
];

const startedAt = Date.now();
const selected = selectChecks(process.argv.slice(2));
await setUp({ build: selected.some(({ needsBuild }) => needsBuild) });
const failed = await runAll(selected);
console.log(failed.length === 0 ? `all good, ${seconds(startedAt)}` : `failed: ${failed.join(', ')}, ${seconds(startedAt)}`);
process.exitCode = failed.length === 0 ? 0 : 1;

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

/** As many at a time as there are cores; each prints its line when it ends, and what it had to say if it failed. */
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

async function runCheck({ commands }) {
  let complaints = '';
  for (const args of commands()) {
    const { code, output } = await run(process.execPath, args, { cwd: repositoryRoot, env: environment() });
    if (code !== 0) complaints += `\n${output.trimEnd() || `ended with code ${code}`}\n`;
  }
  return complaints;
}

/** publint asks whether what package.json promises is there; attw whether TypeScript finds the types. */
function exportsCommands() {
  return publishedPackages().flatMap((folder) => {
    const publint = tool('publint', 'publint', ['run', folder, '--strict', '--pack', 'npm']);
    const attw = tool('@arethetypeswrong/cli', 'attw', ['--pack', folder, '--profile', 'esm-only', '--format', 'ascii']);
    return readManifest(folder).exports === undefined ? [publint] : [publint, attw];
  });
}

function publishedPackages() {
  const folders = readJson(join(repositoryRoot, 'tsconfig.json')).references.map(({ path }) => path);
  return folders.filter((folder) => folder.startsWith('packages/') && readManifest(folder).private !== true);
}

function readManifest(folder) {
  return readJson(join(repositoryRoot, folder, 'package.json'));
}

/** oxlint complains about folders that do not exist. */
function sourceFolders() {
  return ['packages', 'scripts', 'test', 'bench'].filter((folder) => existsSync(join(repositoryRoot, folder)));
}

function tool(packageName, toolName, args) {
  return [toolPath(packageName, toolName), ...args];
}

function script(name) {
  return [join(repositoryRoot, 'scripts', name)];
}

function environment() {
  return process.stdout.isTTY ? { FORCE_COLOR: '1', ...process.env } : process.env;
}

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runNpm } from './npm.mjs';
import { repositoryRoot } from './root.mjs';
import { run } from './run.mjs';
import { tail, withProgress } from './say.mjs';

/**
 * The releases of the claude program that the tests talk to, by version: which package has it. Each has one package per
 * kind of machine, and only that one is installed: the program is all that is in it.
 */
const releases = new Map([
  ['2.1.197', { name: '@anthropic-ai/claude-code', version: '2.1.197' }],
  ['2.1.325', { name: '@anthropic-ai/claude-agent-sdk', version: '0.3.325' }],
]);

/** Oldest first. `npm test` uses the newest. */
export const claudeCodeVersions = [...releases.keys()];

/** Where a version of the program is, installed if need be: `{ path }`, or `{ reason }` in one sentence. */
export async function ensureClaudeCode(version, root = repositoryRoot) {
  const release = releases.get(version);
  if (release === undefined) return { reason: `The versions are ${claudeCodeVersions.join(' and ')}, not ${version}.` };
  const cache = join(root, '.cache', 'claude-code');
  const path = join(cache, version, programName);
  // Whoever sees the folder sees it whole: it gets its name by a rename, after the program has answered.
  if (existsSync(path)) return { path };
  mkdirSync(cache, { recursive: true });
  const lock = await takeLock(join(cache, `.${version}.lock`), path);
  if (lock === undefined) return { path };
  try {
    if (existsSync(path)) return { path };
    const failure = join(cache, `.${version}.failed`);
    const reason = readFailure(failure) ?? (await install({ version, release, cache }));
    if (reason === undefined) return { path };
    if (!existsSync(failure)) writeFileSync(failure, reason);
    return { reason };
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Where there is no network npm tries for minutes, and every file of tests would begin again. */
const failureMs = 2 * 60 * 1000;

function readFailure(path) {
  if (!existsSync(path)) return undefined;
  if (Date.now() - statSync(path).mtimeMs < failureMs) return readFileSync(path, 'utf8');
  rmSync(path, { force: true });
  return undefined;
}

const programName = process.platform === 'win32' ? 'claude.exe' : 'claude';

/** Nothing if it went well, else why not. */
async function install({ version, release, cache }) {
  // We hold the lock, so whatever others began is left over from a process that died.
  for (const left of readdirSync(cache).filter((entry) => entry.startsWith(`.${version}-`))) {
    rmSync(join(cache, left), { recursive: true, force: true });
  }
  const draft = join(cache, `.${version}-${process.pid}`);
  const name = `${release.name}-${machine()}`;
  let reason;
  try {
    await withProgress(`installing claude ${version} for the tests`, async () => {
      mkdirSync(draft);
      reason = (await fetchPackage(`${name}@${release.version}`, draft)) ?? (await tryProgram(draft, name, version));
      return reason === undefined;
    });
    if (reason !== undefined) return reason;
    rmSync(join(cache, version), { recursive: true, force: true });
    renameSync(join(draft, 'node_modules', name), join(cache, version));
    return undefined;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function fetchPackage(name, folder) {
  // no scripts: the program is in the package as it is, and nothing else of it has to run.
  const quiet = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  const { code, output } = await runNpm(['install', '--prefix', folder, ...quiet, name], folder);
  return code === 0 ? undefined : `npm could not install ${name}:\n${tail(output, 6)}`;
}

/** A program that is there but does not run here (another libc, a damaged archive) is better known now. */
async function tryProgram(folder, name, version) {
  const program = join(folder, 'node_modules', name, programName);
  if (!existsSync(program)) return `${name} holds no ${programName}.`;
  const { code, output } = await run(program, ['--version']);
  if (code === 0 && output.startsWith(version)) return undefined;
  return `${name} does not answer as claude ${version} (exit code ${code}):\n${tail(output, 3)}`;
}

/** What the packages are named after. Those for Linux come for two C libraries. */
function machine() {
  const isMusl = process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime === undefined;
  return `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`;
}

/**
 * Test workers ask at the same time, and one download is enough. A file that can only be made once says whose it is; the
 * others wait until the program is there, or its maker is gone. Undefined: somebody else has done it.
 */
async function takeLock(lock, path) {
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return lock;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (existsSync(path)) return undefined;
    if (isAbandoned(lock)) rmSync(lock, { force: true });
    else await sleep(200);
  }
}

/** Nothing takes longer than this. A number of a process may have gone to another one meanwhile. */
const patienceMs = 10 * 60 * 1000;

function isAbandoned(lock) {
  try {
    if (Date.now() - statSync(lock).mtimeMs > patienceMs) return true;
    const pid = Number(readFileSync(lock, 'utf8'));
    // Made but not yet written to: its maker is alive.
    if (pid === 0) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runNpm } from './npm.mjs';
import { repositoryRoot } from './root.mjs';
import { run } from './run.mjs';
import { tail, withProgress } from './say.mjs';

/**
 * The agent programs that the tests run, with the npm package of each version for this machine. A package contains only the
 * program for one platform; `file` is its path in the package.
 */
const programs = {
  'claude-code': {
    packages: {
      '2.1.197': `@anthropic-ai/claude-code-${machine()}@2.1.197`,
      '2.1.325': `@anthropic-ai/claude-agent-sdk-${machine()}@0.3.325`,
    },
    file: executable('claude'),
  },
  codex: {
    packages: { '0.166.0': `@openai/codex@0.166.0-${process.platform}-${process.arch}` },
    file: join('vendor', rustTarget(), 'bin', executable('codex')),
  },
  opencode: {
    packages: { '1.18.33': `opencode-${machine({ win32: 'windows' })}@1.18.33` },
    file: join('bin', executable('opencode')),
  },
};

export const programNames = Object.keys(programs);

/** The versions of a program, the oldest first. `npm test` uses the newest version of Claude Code. */
export function versionsOf(name) {
  return Object.keys(programs[name].packages);
}

/** Finds or installs a version of a program: `{ path }`, or `{ reason }` as one sentence. */
export async function ensureProgram(name, version, root = repositoryRoot) {
  const specifier = programs[name].packages[version];
  if (specifier === undefined) {
    return { reason: `The versions of ${name} are ${versionsOf(name).join(' and ')}, not ${version}.` };
  }
  const cache = join(root, '.cache', name);
  const path = join(cache, version, programs[name].file);
  // The folder is renamed to this path only after the program has run, so it is always complete.
  if (existsSync(path)) return { path };
  mkdirSync(cache, { recursive: true });
  const lock = await takeLock(join(cache, `.${version}.lock`), path);
  if (lock === undefined) return { path };
  try {
    if (existsSync(path)) return { path };
    const failure = join(cache, `.${version}.failed`);
    const reason = readFailure(failure) ?? (await install({ name, version, specifier, cache }));
    if (reason === undefined) return { path };
    if (!existsSync(failure)) writeFileSync(failure, reason);
    return { reason };
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Without a network npm tries for minutes; a failure is remembered so that the next test file does not try again. */
const failureMs = 2 * 60 * 1000;

function readFailure(path) {
  if (!existsSync(path)) return undefined;
  if (Date.now() - statSync(path).mtimeMs < failureMs) return readFileSync(path, 'utf8');
  rmSync(path, { force: true });
  return undefined;
}

/** Returns undefined on success, otherwise the reason. */
async function install({ name, version, specifier, cache }) {
  // This process holds the lock, so other partial folders are left from killed processes.
  for (const left of readdirSync(cache).filter((entry) => entry.startsWith(`.${version}-`))) {
    rmSync(join(cache, left), { recursive: true, force: true });
  }
  const draft = join(cache, `.${version}-${process.pid}`);
  const folder = join(draft, 'node_modules', specifier.slice(0, specifier.lastIndexOf('@')));
  let reason;
  try {
    await withProgress(`installing ${name} ${version} for the tests`, async () => {
      mkdirSync(draft);
      reason =
        (await fetchPackage(specifier, draft)) ??
        (await tryProgram({ name, version, specifier, path: join(folder, programs[name].file), home: draft }));
      return reason === undefined;
    });
    if (reason !== undefined) return reason;
    rmSync(join(cache, version), { recursive: true, force: true });
    renameSync(folder, join(cache, version));
    return undefined;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function fetchPackage(specifier, folder) {
  // No install scripts: the package contains the finished program.
  const quiet = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  const { code, output } = await runNpm(['install', '--prefix', folder, ...quiet, specifier], folder);
  if (code === 0) return undefined;
  const advice = 'Check the network and `npm config get registry`, then run the same command again.';
  return `npm could not install ${specifier}:\n${reasonOf(output)}\n${advice}`;
}

/** npm's first errors have the reason; advice and the path of a log follow. */
function reasonOf(output) {
  const errors = output.split('\n').filter((line) => line.startsWith('npm error'));
  return errors.length === 0 ? tail(output, 6) : errors.slice(0, 5).join('\n');
}

/** Runs the program once, to find one that does not work on this machine (another libc, a damaged archive). */
async function tryProgram({ name, version, specifier, path, home }) {
  if (!existsSync(path)) return `${specifier} does not contain ${programs[name].file}.`;
  // Some programs write to their home directory at every start.
  const homes = [
    'HOME',
    'USERPROFILE',
    'CODEX_HOME',
    'XDG_CONFIG_HOME',
    'XDG_DATA_HOME',
    'XDG_STATE_HOME',
    'XDG_CACHE_HOME',
  ];
  const env = { ...process.env, ...Object.fromEntries(homes.map((variable) => [variable, home])) };
  const { code, output } = await run(path, ['--version'], { env });
  if (code === 0 && output.split(/\s+/).includes(version)) return undefined;
  return `${specifier} does not answer as ${name} ${version} (exit code ${code}):\n${tail(output, 3)}`;
}

/** The platform as it is spelt in names of packages. Linux has two C libraries. */
function machine(spelling = {}) {
  const isMusl = process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime === undefined;
  return `${spelling[process.platform] ?? process.platform}-${process.arch}${isMusl ? '-musl' : ''}`;
}

function rustTarget() {
  const processor = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const systems = { darwin: 'apple-darwin', win32: 'pc-windows-msvc' };
  return `${processor}-${systems[process.platform] ?? 'unknown-linux-musl'}`;
}

function executable(name) {
  return process.platform === 'win32' ? `${name}.exe` : name;
}

/**
 * Lets one of several test workers install. The lock is a file created exclusively, with the pid of its owner; the others wait
 * until the program exists or the owner is gone. Undefined: another process has installed it.
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

/** How long an installation may take. After that the pid may belong to another process. */
const patienceMs = 10 * 60 * 1000;

function isAbandoned(lock) {
  try {
    if (Date.now() - statSync(lock).mtimeMs > patienceMs) return true;
    const pid = Number(readFileSync(lock, 'utf8'));
    // Created but not yet written: its owner is alive.
    if (pid === 0) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

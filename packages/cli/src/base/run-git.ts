import { execFile } from 'node:child_process';
import { limits } from './limits.ts';

/**
 * Runs the user's git so that no program that the repository names runs: no hook, file system monitor, filter or remote
 * helper. Undefined if git fails or is not installed.
 */
export async function runGit(cwd: string, args: readonly string[]): Promise<string | undefined> {
  const drivers = await listFilterDrivers(cwd);
  if (drivers === undefined) return undefined;
  const filters = drivers.flatMap((name) => FILTERS.map((setting) => `filter.${name}.${setting}`));
  const { code, stdout } = await execute(cwd, [...toSettings([...SETTINGS, ...filters]), ...args]);
  return code === 0 ? stdout : undefined;
}

/** Git has no switch for all filters. An empty command turns a filter off, even if the configuration requires it. */
const FILTERS = ['clean=', 'smudge=', 'process=', 'required=false'];

/** Settings that override the configuration of the repository. */
const SETTINGS = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.sshCommand=/bin/false',
  'commit.gpgSign=false',
  'diff.external=',
];

/** The names of all filter drivers in the configuration. Undefined if git fails, or if one of them cannot be turned off. */
async function listFilterDrivers(cwd: string): Promise<readonly string[] | undefined> {
  const list = ['config', '--includes', '-z', '--name-only', '--get-regexp', String.raw`^filter\.`];
  const { code, stdout } = await execute(cwd, [...toSettings(SETTINGS), ...list]);
  if (code === NO_MATCH) return [];
  if (code !== 0) return undefined;
  const names = new Set(stdout.split('\0').flatMap((key) => /^filter\.(.*)\.[^.]*$/s.exec(key)?.[1] ?? []));
  // In a `-c` argument the first "=" ends the name.
  return [...names].some((name) => name.includes('=')) ? undefined : [...names];
}

const NO_MATCH = 1;

function toSettings(settings: readonly string[]): readonly string[] {
  return settings.flatMap((setting) => ['-c', setting]);
}

async function execute(cwd: string, args: readonly string[]): Promise<{ code: unknown; stdout: string }> {
  return await new Promise((resolve) => {
    const options = { cwd, env: toEnvironment(), timeout: limits.gitMs };
    // The callback also receives the error if git cannot be started.
    execFile('git', args, options, (error, stdout) => resolve({ code: error === null ? 0 : error.code, stdout }));
  });
}

/** Variables such as `GIT_DIR` would select another repository, or a program to run. */
function toEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('GIT_') || name.startsWith('GIT_CONFIG'),
  );
  return {
    ...Object.fromEntries(kept),
    GIT_TERMINAL_PROMPT: '0',
    // A promisor remote of the repository could name a program that fetches missing objects.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
  };
}

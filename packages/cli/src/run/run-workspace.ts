import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DirectoryResourceParams } from '@fleetloom/protocol/managed-agents';
import { cleanLine } from '@fleetloom/protocol/text';
import type { Io } from '../base/io.ts';
import { runGit } from '../base/run-git.ts';
import { UsageError } from '../base/usage-error.ts';

/** Options that decide what the agents of a run work on. */
export interface WorkspaceOptions {
  inPlace?: boolean;
  /** False with --no-workspace. */
  workspace?: boolean;
  apply?: boolean;
  includeUncommitted?: boolean;
  url?: string;
}

/** The directory that the agents of a run work on. */
export interface RunWorkspace {
  readonly directory: string;
  readonly isInPlace: boolean;
  /** Whether an option requires the directory, so that the run must not begin without it. */
  readonly isRequired: boolean;
  readonly resource: DirectoryResourceParams;
}

/** Chooses the directory of a run: the git repository of the working directory, or undefined for an empty workspace. */
export async function chooseWorkspace(
  io: Pick<Io, 'cwd' | 'env' | 'stderr'>,
  options: WorkspaceOptions,
): Promise<RunWorkspace | undefined> {
  const { inPlace = false, apply = false, includeUncommitted = false, workspace = true } = options;
  checkOptions(options);
  const top = findTop(io.cwd);
  const isRequired = inPlace || apply || includeUncommitted;
  if (!workspace || (top === undefined && !inPlace)) {
    if (workspace && !isRequired) noteBare(io);
    if (!isRequired || !workspace) return undefined;
    const name = apply ? '--apply' : '--include-uncommitted';
    throw new UsageError(
      `${name} needs a git repository, and ${io.cwd} is not in one.`,
      'Change to a repository, or omit it.',
    );
  }
  const directory = top ?? realpathSync(io.cwd);
  const server = options.url ?? io.env['FLEETLOOM_URL'] ?? '';
  if (server !== '' && !isLoopback(server)) {
    const problem = `The server at ${server} is on another machine and cannot work on ${directory}.`;
    const fix = 'Omit --url and FLEETLOOM_URL to run on this machine.';
    if (isRequired) throw new UsageError(problem, fix);
    io.stderr.write(`fleetloom: ${problem} The agents begin with an empty workspace.\n  ${fix}\n`);
    return undefined;
  }
  // If the repository has no commits, the agents get a copy of all files anyway.
  const carries = includeUncommitted && (await hasCommits(directory));
  return {
    directory,
    isInPlace: inPlace,
    isRequired,
    resource: {
      type: 'directory',
      path: directory,
      ...(inPlace ? { mode: 'in_place' as const } : {}),
      ...(carries ? { include_uncommitted: true } : {}),
    },
  };
}

function checkOptions({ inPlace, apply, includeUncommitted, workspace }: WorkspaceOptions): void {
  const given = [
    ...(workspace === false ? ['--no-workspace'] : []),
    ...(inPlace === true ? ['--in-place'] : []),
    ...(apply === true ? ['--apply'] : []),
    ...(includeUncommitted === true ? ['--include-uncommitted'] : []),
  ];
  const [first, second] = given;
  if (second === undefined || (first !== '--no-workspace' && first !== '--in-place')) return;
  throw new UsageError(`${first} and ${second} exclude each other.`, `Omit one of them.`);
}

/** Prints a note for a bare repository, which has no files that agents could work on. */
function noteBare({ cwd, stderr }: Pick<Io, 'cwd' | 'stderr'>): void {
  if (!['HEAD', 'objects', 'refs'].every((name) => existsSync(join(cwd, name)))) return;
  const fix = 'Add a worktree to it (git worktree add <directory>) and run the task there.';
  stderr.write(
    `fleetloom: ${cleanLine(cwd)} is a bare repository. The agents begin with an empty workspace.\n  ${fix}\n`,
  );
}

/** The top of the working tree that a directory is in. */
export function findTop(directory: string): string | undefined {
  for (let path = realpathSync(directory); ; path = dirname(path)) {
    if (existsSync(join(path, '.git'))) return path;
    if (dirname(path) === path) return undefined;
  }
}

function isLoopback(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Whether a repository has uncommitted changes. Nothing is written to the repository, and no program that it names runs. */
export async function hasUncommitted(directory: string): Promise<boolean> {
  const status = ['--no-optional-locks', 'status', '--porcelain', '--ignore-submodules=all'];
  // The result only decides about a note, so a failure counts as no changes.
  return ((await runGit(directory, status)) ?? '') !== '';
}

/** Whether a repository has a commit that a worktree could begin with. */
export async function hasCommits(directory: string): Promise<boolean> {
  return (await runGit(directory, ['rev-parse', '--verify', '--quiet', 'HEAD'])) !== undefined;
}

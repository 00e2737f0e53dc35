import { readdir, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { UsageError } from '../base/usage-error.ts';
import { type SessionFile, toSessionFile } from './session-files.ts';

/** How to find the sessions of a program. */
export interface FindSessionsOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The directory that `--config` names. */
  readonly config?: string | undefined;
  /** The path of the program, if its sessions are listed by running it. */
  readonly program?: string | undefined;
  /** The current directory. */
  readonly directory: string;
}

/** The sessions named by files, ids or project directories of Claude Code, newest first. */
export async function findSessions(named: readonly string[], options: FindSessionsOptions): Promise<SessionFile[]> {
  const found: SessionFile[] = [];
  for (const name of named) for (const file of await findNamed(name, options)) found.push(file);
  const unique = new Map(found.map((file) => [file.path, file]));
  return [...unique.values()].sort((a, b) => b.changedAt - a.changedAt);
}

/** All Claude Code sessions on this machine. */
export async function findAllSessions(options: FindSessionsOptions): Promise<SessionFile[]> {
  const root = toProjects(options);
  const projects = await readdir(root).catch(() => []);
  const all = await Promise.all(projects.map((project) => listSessions(join(root, project))));
  if (all.flat().length === 0) throw nothing(`There are no sessions of Claude Code in "${root}".`);
  return all.flat().sort((a, b) => b.changedAt - a.changedAt);
}

async function findNamed(name: string, options: FindSessionsOptions): Promise<SessionFile[]> {
  const path = isAbsolute(name) ? name : resolve(options.directory, name);
  if (name.endsWith('.jsonl')) {
    const file = await toSessionFile(path);
    if (file === undefined) throw nothing(`There is no file "${name}".`);
    return [file];
  }
  if (ID.test(name)) return await findById(name, options);
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) throw nothing(`"${name}" is neither a session file, nor the id of one, nor a directory.`);
  const sessions = await listSessions(join(toProjects(options), toProjectName(real)));
  if (sessions.length === 0) throw nothing(`Claude Code has no sessions of "${name}".`);
  return sessions;
}

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

async function findById(id: string, options: FindSessionsOptions): Promise<SessionFile[]> {
  const root = toProjects(options);
  for (const project of await readdir(root).catch(() => [])) {
    const file = await toSessionFile(join(root, project, `${id}.jsonl`));
    if (file !== undefined) return [file];
  }
  throw nothing(`Claude Code has no session "${id}" in "${root}".`);
}

/** Claude Code derives the name of a project folder from its path. */
function toProjectName(directory: string): string {
  return directory.replace(/[^a-zA-Z0-9]/g, '-');
}

function toProjects({ env, config }: FindSessionsOptions): string {
  const home = config ?? (env['CLAUDE_CONFIG_DIR'] || join(env['HOME'] || homedir(), '.claude'));
  return join(home, 'projects');
}

async function listSessions(folder: string): Promise<SessionFile[]> {
  const names = await readdir(folder).catch(() => []);
  const files = await Promise.all(
    names
      .filter((name) => name.endsWith('.jsonl') && ID.test(name.slice(0, -'.jsonl'.length)))
      .map((name) => toSessionFile(join(folder, name))),
  );
  return files.filter((file) => file !== undefined);
}

function nothing(problem: string): UsageError {
  return new UsageError(problem, 'Pass a session file, a session id or a project directory, or --all.');
}

import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileCounts } from '@fleetloom/protocol/fleet';
import { toDataDirectory } from '../connection/data-directory.ts';
import type { Io } from '../base/io.ts';

/** A run on a repository whose data directory is kept, so that its changes can be applied or discarded later. */
export interface KeptRun {
  /** The data directory. */
  readonly data: string;
  /** Sessions that worked on a directory, the oldest first. */
  readonly sessions: readonly string[];
  /** The directories that its server allows. */
  readonly directories: readonly string[];
  /** The records of these sessions. Runs of earlier versions have none. */
  readonly details: readonly KeptSession[];
}

/** A session of a kept run. */
export interface KeptSession {
  readonly id: string;
  readonly directory: string;
  readonly isInPlace: boolean;
  readonly task: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** The id of the process that runs the session. Undefined for a run of an earlier version. */
  readonly processId?: number | undefined;
  /** The URL of its server while it runs. */
  readonly url?: string | undefined;
  /** The counts of changed files and lines. Undefined if the run has not ended or was killed. */
  readonly changes?: FileCounts | undefined;
}

/** The data directory of one run. Runs do not share a directory, because concurrent runs have a server each. */
export function toRunDirectory(env: Io['env'], id: string): string {
  return join(toDataDirectory(env), RUNS, id);
}

/** Writes the record of a session to the data directory of its run, when the run starts and again when it has ended. */
export async function keepRun(data: string, session: KeptSession): Promise<void> {
  const known = readRun(data);
  const others = (known?.details ?? []).filter(({ id }) => id !== session.id);
  const run: Omit<KeptRun, 'data'> = {
    sessions: [...new Set([...(known?.sessions ?? []), session.id])],
    directories: [...new Set([...(known?.directories ?? []), session.directory])],
    details: [...others, session],
  };
  await mkdir(data, { recursive: true, mode: 0o700 });
  await writeFile(join(data, `${FILE}.new`), `${JSON.stringify(run)}\n`, { mode: 0o600 });
  await rename(join(data, `${FILE}.new`), join(data, FILE));
}

/** The run of a data directory; undefined if the directory has no record of a run. */
export function readRun(data: string): KeptRun | undefined {
  try {
    // Only `keepRun` writes the file. A run of an earlier version has no details.
    const run = JSON.parse(readFileSync(join(data, FILE), 'utf8')) as Omit<KeptRun, 'data' | 'details'> &
      Partial<Pick<KeptRun, 'details'>>;
    return { data, sessions: run.sessions, directories: run.directories, details: run.details ?? [] };
  } catch {
    return undefined;
  }
}

/** The kept run with a session, by its id or the end of its id. */
export function findRun(
  env: Io['env'],
  session: string,
): { readonly run: KeptRun; readonly sessionId: string } | undefined {
  for (const run of listRuns(env)) {
    const sessionId = findSession(run, session);
    if (sessionId !== undefined) return { run, sessionId };
  }
  return undefined;
}

/** The session of a run by its id or the end of its id. */
export function findSession({ sessions }: KeptRun, session: string): string | undefined {
  return sessions.find((id) => id === session || (session.length >= SHORT_CHARS_MIN && id.endsWith(session)));
}

/** The sessions of all kept runs, the newest first. */
export function listKeptSessions(env: Io['env']): readonly KeptSession[] {
  return listRuns(env)
    .flatMap(({ details }) => details)
    .sort((one, other) => other.startedAt - one.startedAt);
}

/** Removes a data directory of a run. */
export async function removeRun(data: string): Promise<void> {
  await rm(data, { recursive: true, force: true });
}

/** Whether a data directory was created for a single run, and not named by the user. */
export function isOwnDirectory(env: Io['env'], data: string): boolean {
  return dirname(data) === join(toDataDirectory(env), RUNS);
}

function listRuns(env: Io['env']): KeptRun[] {
  return listRunDirectories(env).flatMap((directory) => readRun(directory) ?? []);
}

/** The data directories of all runs, also of runs that were killed before their record was written. */
export function listRunDirectories(env: Io['env']): readonly string[] {
  const directory = join(toDataDirectory(env), RUNS);
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch {
    return [];
  }
}

/** How far a run is: `interrupted` if its process ended without recording its changes. */
export type RunState = 'ended' | 'running' | 'interrupted';

/** The state of a run. */
export function toRunState({ changes, processId }: Pick<KeptSession, 'changes' | 'processId'>): RunState {
  if (changes !== undefined) return 'ended';
  return processId === undefined || isAlive(processId) ? 'running' : 'interrupted';
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const SHORT_CHARS_MIN = 6;
const RUNS = 'runs';
const FILE = 'run.json';

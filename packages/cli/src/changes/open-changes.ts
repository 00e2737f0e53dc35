import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { limits } from '../base/limits.ts';
import { writeText } from '../base/write-text.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { recallServer } from '../connection/local-server.ts';
import { type RunServer, startTemporary } from '../run/open-server.ts';
import { findRun, findSession, type KeptRun, readRun, toRunState } from '../workspace/kept-runs.ts';
import { settleSession } from './settle-session.ts';

/** Options of every command about the changes of a session. */
export interface ChangesOptions extends ConnectionOptions {
  /** The data directory of a run. */
  data?: string;
  json?: boolean;
}

/** The changes of one session, on the server that has it. */
export interface OpenedChanges {
  readonly api: ServerApi;
  readonly sessionId: string;
  /** The path of the session in the API. */
  readonly path: string;
  /** The kept run whose data directory contains the session; undefined for a session of another server. */
  readonly run: KeptRun | undefined;
}

/** Requirements of a command about changes. */
export interface ChangesNeeds {
  /** The command removes data that a run uses, so the run must have ended. */
  readonly needsEnd?: boolean;
  /** How long the command waits while another command has the data of the run open. */
  readonly waitMs?: number;
}

/**
 * Calls `use` with the server of a session: the server of --url or FLEETLOOM_URL, or for a session of `fleetloom run` the server of
 * that run. If the run has ended, a server is started on its data directory and stopped afterwards. With --json an error of the server is
 * printed as the API returns it.
 */
export async function withChanges(
  io: Io,
  session: string,
  options: ChangesOptions,
  use: (opened: OpenedChanges) => Promise<number>,
  { needsEnd = false, waitMs = limits.runDataWaitMs }: ChangesNeeds = {},
): Promise<number> {
  try {
    return await withServerOf(io, session, { ...options, needsEnd, waitMs }, use);
  } catch (error) {
    const isAnswered = options.json === true && error instanceof CommandError && error.answer !== undefined;
    if (isAnswered) await writeText(io.stdout, `${toJsonText(io.stdout, error.answer)}\n`);
    throw error;
  }
}

async function withServerOf(
  io: Io,
  session: string,
  options: ChangesOptions & Required<ChangesNeeds>,
  use: (opened: OpenedChanges) => Promise<number>,
): Promise<number> {
  const found = findKept(io, session, options);
  if (found === undefined) {
    const api = createServerApi(toConnection(io.env, options), limits.changesCallMs);
    return await use({ api, sessionId: session, path: toPath(session), run: undefined });
  }
  const { run, sessionId } = found;
  const running = await findRunning(run, sessionId, options);
  if (running !== undefined) {
    if (!options.needsEnd) return await use(running);
    throw new CommandError(
      exitCode.refused,
      `${sessionId} is still running.`,
      'Wait until the run has ended, or stop it with Ctrl-C where it was started.',
    );
  }
  const server = await startWhenFree(io, found, options);
  try {
    const api = createServerApi(server.connection, limits.changesCallMs);
    const path = toPath(sessionId);
    await settleSession(api, path);
    return await use({ api, sessionId, path, run });
  } finally {
    await server.close();
  }
}

/** The session on the server of its run, if the run is still running. */
async function findRunning(
  run: KeptRun,
  sessionId: string,
  options: ChangesOptions,
): Promise<OpenedChanges | undefined> {
  const session = run.details.find(({ id }) => id === sessionId);
  if (session?.url === undefined || toRunState(session) !== 'running') return undefined;
  const key = options.key ?? recallServer(run.data).key ?? undefined;
  const connection = { url: session.url, key, isTemporary: true };
  const path = toPath(sessionId);
  // The run may have just ended, and another server may use its port.
  const isThere = await createServerApi(connection, limits.openCallMs)
    .get(path)
    .then(
      () => true,
      () => false,
    );
  return isThere ? { api: createServerApi(connection, limits.changesCallMs), sessionId, path, run } : undefined;
}

/** Starts a server on the data of a run, once no other command has the data open. */
async function startWhenFree(
  io: Io,
  { run, sessionId }: { readonly run: KeptRun; readonly sessionId: string },
  { key, waitMs }: Pick<ChangesOptions, 'key'> & Pick<Required<ChangesNeeds>, 'waitMs'>,
): Promise<RunServer> {
  const endsAt = performance.now() + waitMs;
  for (;;) {
    try {
      return await startTemporary(io, { data: run.data, ...(key === undefined ? {} : { key }) }, run.directories);
    } catch (error) {
      if (!(error instanceof CommandError) || error.code !== 'store_locked') throw error;
      if (performance.now() < endsAt) {
        await sleep(limits.runDataPollMs);
        continue;
      }
      const problem = `Another process has the data of ${sessionId} open (${run.data}).`;
      const fix = 'Repeat the command when it has ended, or pass --url to use its server.';
      throw new CommandError(exitCode.refused, problem, fix, { cause: error });
    }
  }
}

/** Whether --url or FLEETLOOM_URL selects a server, so that the runs of this machine do not count. */
export function isElsewhere(env: Io['env'], { url }: ConnectionOptions): boolean {
  return url !== undefined || (env['FLEETLOOM_URL'] ?? '') !== '';
}

function findKept(io: Io, session: string, options: ChangesOptions) {
  const { data } = options;
  if (data !== undefined) {
    const run = readRun(resolve(io.cwd, data));
    const sessionId = run === undefined ? undefined : findSession(run, session);
    if (run !== undefined && sessionId !== undefined) return { run, sessionId };
    throw new CommandError(
      exitCode.notFound,
      `The data directory "${data}" has no session ${session} of a run on a directory.`,
      'Pass the --data of the run, and the id that it printed.',
    );
  }
  return isElsewhere(io.env, options) ? undefined : findRun(io.env, session);
}

function toPath(sessionId: string): string {
  return `/v1/sessions/${encodeURIComponent(sessionId)}`;
}

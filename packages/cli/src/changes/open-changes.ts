import { resolve } from 'node:path';
import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { limits } from '../base/limits.ts';
import { writeText } from '../base/write-text.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { startTemporary } from '../run/open-server.ts';
import { findRun, findSession, type KeptRun, readRun } from '../workspace/kept-runs.ts';
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
  /** The run whose data directory has the session, if no server of its own does. */
  readonly run: KeptRun | undefined;
}

/**
 * Calls `use` with the server that has a session: the one of --url and FLEETLOOM_URL, or for a session of `fleetloom run` a
 * server that is started on the data directory of that run, and stopped afterwards. With --json an error of that server is
 * printed as the API returns it.
 */
export async function withChanges(
  io: Io,
  session: string,
  options: ChangesOptions,
  use: (opened: OpenedChanges) => Promise<number>,
): Promise<number> {
  try {
    return await withServerOf(io, session, options, use);
  } catch (error) {
    const isAnswered = options.json === true && error instanceof CommandError && error.answer !== undefined;
    if (isAnswered) await writeText(io.stdout, `${toJsonText(io.stdout, error.answer)}\n`);
    throw error;
  }
}

async function withServerOf(
  io: Io,
  session: string,
  options: ChangesOptions,
  use: (opened: OpenedChanges) => Promise<number>,
): Promise<number> {
  const found = findKept(io, session, options);
  if (found === undefined) {
    const api = createServerApi(toConnection(io.env, options), limits.changesCallMs);
    return await use({ api, sessionId: session, path: toPath(session), run: undefined });
  }
  const { run, sessionId } = found;
  const server = await startTemporary(
    io,
    { data: run.data, ...(options.key === undefined ? {} : { key: options.key }) },
    run.directories,
  );
  try {
    const api = createServerApi(server.connection, limits.changesCallMs);
    const path = toPath(sessionId);
    await settleSession(api, path);
    return await use({ api, sessionId, path, run });
  } finally {
    await server.close();
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

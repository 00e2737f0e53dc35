import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Session } from '@fleetloom/protocol/managed-agents';
import { cleanLine, formatAgo } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { writeText } from '../base/write-text.ts';
import { toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { findTop } from '../run/run-workspace.ts';
import { findRun, findSession, listKeptSessions, readRun } from '../workspace/kept-runs.ts';
import { type ChangesOptions, isElsewhere } from './open-changes.ts';

/** The session of a command, and the remaining arguments. */
export interface ChosenSession {
  readonly session: string;
  readonly rest: readonly string[];
}

/** The session that the first argument names; without one, the last run of the repository, which is printed. */
export async function chooseSession(io: Io, args: readonly string[], options: ChangesOptions): Promise<ChosenSession> {
  const [first, ...rest] = args;
  if (first !== undefined && isSession(io, first, options)) return { session: first, rest };
  const here = findTop(io.cwd) ?? realpathSync(io.cwd);
  const last = await findLast(io, here, options);
  if (last === undefined) throw noRun(first, here);
  const age = formatAgo(io.timers.now() - last.startedAt);
  await writeText(io.stderr, `fleetloom: ${last.id}, the last run here (${age}): ${cleanLine(last.task)}\n`);
  return { session: last.id, rest: args };
}

/** The session of a command that takes no paths. A wrong id is an error here, because it cannot be a path. */
export async function chooseOnlySession(io: Io, given: string | undefined, options: ChangesOptions): Promise<string> {
  if (given === undefined) return (await chooseSession(io, [], options)).session;
  if (isSession(io, given, options)) return given;
  const fix =
    '"fleetloom runs" lists the runs on repositories of this machine, "fleetloom sessions" the sessions of a server.';
  throw new CommandError(exitCode.notFound, `"${cleanLine(given)}" is not a session.`, fix);
}

/** Whether an argument names a session: by its id, or for a kept run by the end of its id. */
export function isSession(io: Pick<Io, 'cwd' | 'env'>, text: string, options: ChangesOptions): boolean {
  if (/^sesn_\w+$/.test(text)) return true;
  if (options.data !== undefined) {
    const run = readRun(resolve(io.cwd, options.data));
    return run !== undefined && findSession(run, text) !== undefined;
  }
  return !isElsewhere(io.env, options) && findRun(io.env, text) !== undefined;
}

interface LastRun {
  readonly id: string;
  readonly task: string;
  readonly startedAt: number;
}

async function findLast(io: Io, here: string, options: ChangesOptions): Promise<LastRun | undefined> {
  if (options.data !== undefined) return readRun(resolve(io.cwd, options.data))?.details.at(-1);
  if (!isElsewhere(io.env, options)) return listKeptSessions(io.env).find(({ directory }) => directory === here);
  const api = createServerApi(toConnection(io.env, options));
  let count = 0;
  for await (const session of api.list<Session>('/v1/sessions', { limit: PAGE_ITEMS })) {
    // The type lists the resources of the hosted API; Fleetloom has more.
    const resources = session.resources as readonly { readonly type: string; readonly path?: string }[];
    if (resources.some(({ type, path }) => type === 'directory' && path === here)) {
      return { id: session.id, task: session.title ?? '', startedAt: Date.parse(session.created_at) };
    }
    if (++count >= limits.sessionsSearchedMax) return undefined;
  }
  return undefined;
}

/** The largest page of the server. */
const PAGE_ITEMS = 100;

function noRun(first: string | undefined, here: string): CommandError {
  const name = first === undefined ? 'No' : `"${cleanLine(first)}" is not a session, and no`;
  const problem = `${name} run of ${cleanLine(here)} is kept.`;
  return new CommandError(
    exitCode.notFound,
    problem,
    'Pass a session id; "fleetloom runs" lists the runs that are kept.',
  );
}

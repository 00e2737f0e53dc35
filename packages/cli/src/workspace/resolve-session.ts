import { type FleetSessionList, isSessionId, toIdPrefix } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { findRun } from './kept-runs.ts';

/**
 * The id of the session that a user named by the beginning of its id. A whole id, and a text that is not the beginning of an id, are
 * returned unchanged: the command that uses the text reports the problem.
 */
export async function resolveSession(io: Io, typed: string, options: ConnectionOptions): Promise<string> {
  if (isSessionId(typed) || toIdPrefix(typed) === undefined) return typed;
  // Sessions of runs are found by the commands that use them.
  if (options.url === undefined && findRun(io.env, typed) !== undefined) return typed;
  const api = createServerApi(toConnection(io.env, options), limits.callMs, () => io.timers.now());
  const query = { id: typed, archived: 'true', limit: limits.candidatesShown + 1 };
  const found = await api.get<FleetSessionList>('/v1/fleet/sessions', query).catch(ifUnanswered);
  if (found === undefined) return typed;
  const { data, total } = found;
  const [first, ...others] = data;
  if (first === undefined) return typed;
  if (others.length === 0) return first.id;
  const shown = data.slice(0, limits.candidatesShown).map(({ id, name }) => `${id}  ${cleanLine(name)}`);
  throw new CommandError(
    exitCode.usage,
    `${total} sessions have an id that begins with "${cleanLine(typed)}".`,
    ['Pass more characters of one of them:', ...shown].join('\n  '),
  );
}

/**
 * Ignores two errors. An older server lacks the route and accepts whole ids only. Without a server, the text may be a path argument of a command
 * about the last run; a command that needs the server reports that there is none.
 */
function ifUnanswered(error: unknown): undefined {
  const isExpected = error instanceof CommandError && UNANSWERED.has(error.exitCode);
  if (!isExpected) throw error;
}

const UNANSWERED: ReadonlySet<number> = new Set([exitCode.notFound, exitCode.unreachable]);

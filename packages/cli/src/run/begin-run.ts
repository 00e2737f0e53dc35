import type { RequestReceived } from '@fleetloom/protocol/fleet';
import { CommandError } from '../base/command-error.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import type { ServerApi } from '../connection/server-api.ts';
import { findCommonDirectory } from '../workspace/common-directory.ts';
import { keepRun, type KeptSession } from '../workspace/kept-runs.ts';
import type { RunServer } from './open-server.ts';
import { hasCommits, hasUncommitted, type RunWorkspace } from './run-workspace.ts';
import { type RunRequest, startRun } from './start-run.ts';

/** A run to begin, with its server and workspace. */
export interface RunToBegin {
  readonly api: ServerApi;
  readonly server: RunServer;
  readonly workspace: RunWorkspace | undefined;
  readonly request: RunRequest;
  /** Flags with which later commands find the session, such as `--data ./runs`. */
  readonly flags: readonly string[];
  readonly options: { readonly includeUncommitted?: boolean; readonly json?: boolean };
}

/** A run that has begun. */
export interface BegunRun {
  readonly first: RequestReceived;
  /** The record of the run; undefined if its data directory is not kept. */
  readonly kept: { readonly data: string; readonly session: KeptSession } | undefined;
}

/** Starts a run, on the directory of the workspace if one is given. */
export async function beginRun(io: Io, run: RunToBegin): Promise<BegunRun> {
  const { api, server, workspace, request, flags, options } = run;
  if (workspace === undefined) return { first: await startRun(api, request), kept: undefined };
  const print = (text: string) => void (options.json === true || io.stderr.write(`fleetloom: ${text}\n`));
  if (options.json !== true && options.includeUncommitted !== true && (await isBehind(workspace))) {
    print('agents do not see your uncommitted changes; --include-uncommitted carries them over');
  }
  const first = await startRun(api, request).catch((error: unknown) => {
    throw toBeginError(error, workspace, { isOwn: server.isOwn, flags });
  });
  const { directory, isInPlace } = workspace;
  const [line = ''] = request.message.trim().split('\n');
  const task = line.slice(0, limits.keptTaskCharsMax);
  const session = {
    id: first.session_id,
    directory,
    isInPlace,
    task,
    startedAt: io.timers.now(),
    processId: process.pid,
    url: server.connection.url,
  };
  if (server.data !== undefined) await keepRun(server.data, session);
  // Printed at the start, because the commands about changes need the id even if the run is killed.
  print(`session ${first.session_id}`);
  return { first, kept: server.data === undefined ? undefined : { data: server.data, session } };
}

/** Whether the user has changes that the worktree lacks. A repository without commits is copied with all its files instead. */
async function isBehind({ directory, isInPlace }: RunWorkspace): Promise<boolean> {
  return !isInPlace && (await hasCommits(directory)) && (await hasUncommitted(directory));
}

/** The same error with advice for this command. */
function toBeginError(
  error: unknown,
  { directory, isRequired }: RunWorkspace,
  { isOwn, flags }: { readonly isOwn: boolean; readonly flags: readonly string[] },
): unknown {
  if (!(error instanceof CommandError)) return error;
  const { code, message, fix, details, answer, exitCode } = error;
  const more = { code, details, answer, cause: error };
  if (code === 'directory_not_allowed') {
    const { path = directory } = details as { readonly path?: string };
    const all = new Set([directory, findCommonDirectory(directory) ?? directory, path]);
    const allowed = [...all].map((each) => `--allow-directory ${each}`).join(' ');
    const start = isOwn ? `Run "fleetloom serve ${allowed}" and pass its --url` : `Start that server with ${allowed}`;
    const other = isRequired ? '' : ', or pass --no-workspace to run in an empty workspace';
    return new CommandError(exitCode, message, `${start}${other}.`, more);
  }
  if (code !== 'directory_in_use') return error;
  // The command in the server's advice lacks the flags that select the server of this run.
  const command = `${fix.replace(/"\.$/, '')}${flags.map((flag) => ` ${flag}`).join('')}"`;
  return new CommandError(exitCode, message, `${command}, or omit --in-place.`, more);
}

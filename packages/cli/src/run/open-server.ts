import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { FleetloomServer } from '@fleetloom/server';
import { type Connection, type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { rememberServer } from '../connection/local-server.ts';
import type { Io } from '../base/io.ts';
import { UsageError } from '../base/usage-error.ts';
import { findCommonDirectory } from '../workspace/common-directory.ts';
import { toRunDirectory } from '../workspace/kept-runs.ts';
import type { RunWorkspace } from './run-workspace.ts';

/** Options that select or configure the server of a run. */
export interface RunServerOptions extends ConnectionOptions {
  data?: string;
  scripts?: string;
  unsandboxedBash?: boolean;
  unsandboxedPrograms?: boolean;
  allowPrivateHost?: string[];
}

/** The server of a run: an existing one, or a temporary one. */
export interface RunServer {
  readonly connection: Connection;
  readonly isOwn: boolean;
  /** Whether real models are configured; assumed true for an existing server. */
  readonly hasModels: boolean;
  /** The data directory of a temporary server that is kept. */
  readonly data: string | undefined;
  /** Stops a temporary server. Returns the directory with the files that agents wrote, if there are any. */
  close(): Promise<string | undefined>;
}

/** Uses the server of --url or FLEETLOOM_URL, unless an option configures a temporary one (SPEC Y5). */
export async function openServer(io: Io, options: RunServerOptions, workspace?: RunWorkspace): Promise<RunServer> {
  const { url, data, scripts, unsandboxedBash, unsandboxedPrograms, allowPrivateHost } = options;
  const isUnsandboxed = unsandboxedBash === true || unsandboxedPrograms === true;
  const isLocal = [data, scripts, allowPrivateHost].some((each) => each !== undefined) || isUnsandboxed;
  if (url !== undefined && isLocal) {
    throw new UsageError(
      '--data, --scripts, --unsandboxed-bash, --unsandboxed-programs and --allow-private-host configure a temporary server and cannot be combined with --url.',
      'Omit --url or those options.',
    );
  }
  const isElsewhere = url !== undefined || (!isLocal && (io.env['FLEETLOOM_URL'] ?? '') !== '');
  if (!isElsewhere) {
    const { data: given } = options;
    // The data of a run on a directory is kept, because its changes can be applied after the run.
    const kept = given ?? (workspace === undefined ? undefined : toRunDirectory(io.env, randomUUID()));
    const directories = workspace === undefined ? [] : [workspace.directory];
    return await startTemporary(io, { ...options, ...(kept === undefined ? {} : { data: kept }) }, directories);
  }
  const connection = toConnection(io.env, options);
  return { connection, isOwn: false, hasModels: true, data: undefined, close: async () => undefined };
}

/** Starts a server for this command, on a data directory that is kept, or on one that is removed afterwards. */
export async function startTemporary(
  io: Io,
  options: RunServerOptions,
  allowedDirectories: readonly string[],
): Promise<RunServer> {
  const { data, scripts, unsandboxedBash, unsandboxedPrograms, allowPrivateHost, key } = options;
  const [{ FleetloomError, listPrograms, startServer }, { toModels }, { toClaudeCode, toOtherPrograms }] =
    await Promise.all([import('@fleetloom/server'), import('../server/serve.ts'), import('../server/programs.ts')]);
  const isTemporary = data === undefined;
  const directory = isTemporary ? await mkdtemp(join(tmpdir(), 'fleetloom-run-')) : resolve(io.cwd, data);
  const models = toModels(io.env, undefined);
  const programs = { programs: ['default'], unsandboxedPrograms: unsandboxedPrograms === true };
  try {
    const server = await startServer({
      dataDirectory: directory,
      scriptsDirectory: scripts === undefined ? undefined : resolve(scripts),
      allowUnsandboxedBash: unsandboxedBash,
      // The files of a linked worktree are versioned in the git directory of its repository.
      allowedDirectories: allowedDirectories.flatMap((path) => [path, findCommonDirectory(path) ?? []].flat()),
      // Programs are allowed, because only the user of this command can reach the server.
      claudeCode: toClaudeCode(programs),
      programs: toOtherPrograms(programs, listPrograms()),
      allowedPrivateHosts: allowPrivateHost,
      onProblem: (problem) =>
        io.stderr.write(`fleetloom: ${problem instanceof Error ? problem.message : String(problem)}\n`),
      ...models,
    });
    const secret =
      key ??
      (await keepKey(directory, server).catch(async (error: unknown) => {
        await server.close();
        throw error;
      }));
    const connection = { url: server.url, key: secret, isTemporary: true };
    // The data is also removed on a sudden exit, for example when the reader of standard output closes the pipe.
    const undo = isTemporary ? io.onExit(() => removeAllButWorkspaces(directory)) : () => {};
    return {
      connection,
      isOwn: true,
      data: isTemporary ? undefined : directory,
      hasModels: 'models' in models,
      close: async () => {
        await server.close();
        undo();
        return isTemporary ? removeAllButWorkspaces(directory) : undefined;
      },
    };
  } catch (error) {
    if (isTemporary) await rm(directory, { recursive: true, force: true });
    if (!(error instanceof FleetloomError)) throw error;
    const fix = 'Pass another --data, or --url to use the server that runs on this directory.';
    throw new UsageError(error.message, fix, { code: error.code, cause: error });
  }
}

/** Stores the key of a new server. Without a key, every user of this machine could use the server during the run. */
async function keepKey(directory: string, { firstKey }: FleetloomServer): Promise<string> {
  const { key } = await rememberServer(directory, { url: null, firstKey });
  if (key !== null) return key;
  const fix = 'Pass a key with --key or FLEETLOOM_KEY, or use another directory.';
  throw new UsageError(`The data directory "${directory}" has API keys that this command does not know.`, fix);
}

/** Removes the data directory except workspaces with files, which may be the result of the run. Returns their directory. */
function removeAllButWorkspaces(directory: string): string | undefined {
  const workspaces = join(directory, 'workspaces');
  const entries = existsSync(workspaces) ? readdirSync(workspaces, { recursive: true, withFileTypes: true }) : [];
  const isEmpty = !entries.some((entry) => entry.isFile());
  const gone = isEmpty ? [directory] : readdirSync(directory).map((name) => join(directory, name));
  for (const path of gone) if (path !== workspaces) rmSync(path, { recursive: true, force: true });
  return isEmpty ? undefined : workspaces;
}

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { FleetloomServer } from '@fleetloom/server';
import { type Connection, type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { rememberServer } from '../connection/local-server.ts';
import type { Io } from '../io.ts';
import { UsageError } from '../usage-error.ts';

export interface RunServerOptions extends ConnectionOptions {
  data?: string;
  scripts?: string;
  unsandboxedBash?: boolean;
  unsandboxedPrograms?: boolean;
  allowPrivateHost?: string[];
}

/** A server for a run: one that is there, or one of its own. */
export interface RunServer {
  readonly connection: Connection;
  readonly isOwn: boolean;
  /** Whether there are other models than scripted ones; what another server has is not known. */
  readonly hasModels: boolean;
  /** Says where files were left that agents wrote, if they did. */
  close(): Promise<string | undefined>;
}

/** Another one where an address is given or set, unless a directory says that it is to be our own (SPEC Y5). */
export async function openServer(io: Io, options: RunServerOptions): Promise<RunServer> {
  const { url, data, scripts, unsandboxedBash, unsandboxedPrograms, allowPrivateHost } = options;
  const isUnsandboxed = unsandboxedBash === true || unsandboxedPrograms === true;
  const isLocal = [data, scripts, allowPrivateHost].some((each) => each !== undefined) || isUnsandboxed;
  if (url !== undefined && isLocal) {
    throw new UsageError(
      '--url names a server; --data, --scripts, --unsandboxed-bash, --unsandboxed-programs and --allow-private-host are for one of its own.',
      'Leave one out.',
    );
  }
  const isElsewhere = url !== undefined || (!isLocal && (io.env['FLEETLOOM_URL'] ?? '') !== '');
  if (!isElsewhere) return await startOwn(io, options);
  const connection = toConnection(io.env, options);
  return { connection, isOwn: false, hasModels: true, close: async () => undefined };
}

async function startOwn(io: Io, options: RunServerOptions): Promise<RunServer> {
  const { data, scripts, unsandboxedBash, unsandboxedPrograms, allowPrivateHost, key } = options;
  const [{ FleetloomError, startServer }, { toModels }, { toClaudeCode }] = await Promise.all([
    import('@fleetloom/server'),
    import('../commands/serve.ts'),
    import('../commands/programs.ts'),
  ]);
  const isPassing = data === undefined;
  const directory = isPassing ? await mkdtemp(join(tmpdir(), 'fleetloom-run-')) : resolve(data);
  const models = toModels(io.env, undefined);
  try {
    const server = await startServer({
      dataDirectory: directory,
      scriptsDirectory: scripts === undefined ? undefined : resolve(scripts),
      allowUnsandboxedBash: unsandboxedBash,
      // It is there for whoever runs the command, and for nobody else.
      claudeCode: toClaudeCode({ programs: ['default'], unsandboxedPrograms: unsandboxedPrograms === true }),
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
    const connection = { url: server.url, key: secret };
    // Also when the process ends in a hurry, as it does when the reader of its output has gone.
    const undo = isPassing ? io.onExit(() => removeAllButWork(directory)) : () => {};
    return {
      connection,
      isOwn: true,
      hasModels: 'models' in models,
      close: async () => {
        await server.close();
        undo();
        return isPassing ? removeAllButWork(directory) : undefined;
      },
    };
  } catch (error) {
    if (isPassing) await rm(directory, { recursive: true, force: true });
    if (!(error instanceof FleetloomError)) throw error;
    throw new UsageError(error.message, 'Use another --data, or --url to run it on the server that has this one.');
  }
}

/** A server without a key would let everybody on this machine in while the run lasts. */
async function keepKey(directory: string, { firstKey }: FleetloomServer): Promise<string> {
  const { key } = await rememberServer(directory, { url: null, firstKey });
  if (key !== null) return key;
  const fix = 'Pass one with --key or FLEETLOOM_KEY, or use another directory.';
  throw new UsageError(`"${directory}" has keys of its own, and this command does not know them.`, fix);
}

/** What agents wrote is somebody's work: it is not thrown away unseen. Says where it is, if there is any. */
function removeAllButWork(directory: string): string | undefined {
  const workspaces = join(directory, 'workspaces');
  const entries = existsSync(workspaces) ? readdirSync(workspaces, { recursive: true, withFileTypes: true }) : [];
  const isEmpty = !entries.some((entry) => entry.isFile());
  const gone = isEmpty ? [directory] : readdirSync(directory).map((name) => join(directory, name));
  for (const path of gone) if (path !== workspaces) rmSync(path, { recursive: true, force: true });
  return isEmpty ? undefined : workspaces;
}

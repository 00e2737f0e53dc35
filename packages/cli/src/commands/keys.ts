import { FleetloomError, openKeys } from '@fleetloom/server';
import { CommandError } from '../command-error.ts';
import { toDataDirectory } from '../connection/data-directory.ts';
import { toWorkspaceId } from '../connection/to-workspace-id.ts';
import { exitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import { printTable } from '../terminal/print-table.ts';
import { UsageError } from '../usage-error.ts';
import { writeText } from '../write-text.ts';
import { toDatabase } from './serve.ts';

export interface KeysOptions {
  data?: string;
  database?: string;
  workspace?: string;
  json?: boolean;
}

/** `fleetloom keys create`: the secret alone on standard output, because it is told only now. */
export async function createKey(io: Io, name: string, options: KeysOptions): Promise<number> {
  const workspaceId = toWorkspaceId(options.workspace ?? 'default');
  if (name.trim() === '' || name.length > limits.keyNameCharsMax) {
    throw new UsageError(
      `A key has a name of 1 to ${limits.keyNameCharsMax} characters.`,
      'Say who or what it is for.',
    );
  }
  const { key, secret } = await withKeys(io, options, (keys) => keys.create({ kind: 'api', name, workspaceId }));
  if (options.json === true) await writeText(io.stdout, `${JSON.stringify({ ...show(key), key: secret })}\n`);
  else {
    io.stderr.write(`${key.id} opens ${workspaceId}. The key is told only now:\n`);
    await writeText(io.stdout, `${secret}\n`);
  }
  return exitCode.ok;
}

/** `fleetloom keys list`: the oldest first. */
export async function listKeys(io: Io, options: KeysOptions): Promise<number> {
  const shown = (await withKeys(io, options, (keys) => keys.list())).map(show);
  if (options.json === true) await writeText(io.stdout, shown.map((key) => `${JSON.stringify(key)}\n`).join(''));
  else if (shown.length === 0) io.stderr.write('There are no keys. "fleetloom keys create" makes one.\n');
  else {
    const rows = shown.map(({ id, kind, workspace_id: workspace, created_at: at, name }) => [
      id,
      kind,
      workspace,
      at.slice(0, 16),
      name,
    ]);
    await printTable(io, ['KEY', 'KIND', 'WORKSPACE', 'CREATED', 'NAME'], rows);
  }
  return exitCode.ok;
}

/** `fleetloom keys revoke`: all that are named, or none of them. */
export async function revokeKeys(io: Io, ids: readonly string[], options: KeysOptions): Promise<number> {
  await withKeys(io, options, async (keys) => {
    const known = new Set((await keys.list()).map(({ id }) => id));
    const unknown = ids.find((id) => !known.has(id));
    if (unknown !== undefined) {
      throw new CommandError(exitCode.notFound, `There is no key ${unknown}.`, '"fleetloom keys list" shows them.');
    }
    for (const id of ids) await keys.revoke(id);
  });
  await writeText(io.stdout, ids.map((id) => `${id}\n`).join(''));
  return exitCode.ok;
}

type Keys = Awaited<ReturnType<typeof openKeys>>['keys'];

async function withKeys<Result>(io: Io, options: KeysOptions, work: (keys: Keys) => Promise<Result>): Promise<Result> {
  const database = toDatabase(options, io.env['FLEETLOOM_DATABASE']);
  try {
    const { keys, close } = await openKeys({ dataDirectory: toDataDirectory(io.env, options.data), database });
    try {
      return await work(keys);
    } finally {
      await close();
    }
  } catch (error) {
    if (!(error instanceof FleetloomError)) throw error;
    throw new UsageError(error.message, 'fleetloom keys --help shows what can be set');
  }
}

function show(key: Awaited<ReturnType<Keys['list']>>[number]) {
  const { id, kind, name, workspaceId, createdAt } = key;
  return { id, kind, name, workspace_id: workspaceId, created_at: new Date(createdAt).toISOString() };
}

import { FleetloomError, openKeys } from '@fleetloom/server';
import { CommandError } from '../base/command-error.ts';
import { toDataDirectory } from '../connection/data-directory.ts';
import { toWorkspaceId } from '../connection/to-workspace-id.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { printTable } from '../terminal/print-table.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';
import { toDatabase } from './serve.ts';
import { toPasted } from '../base/to-pasted.ts';

/** Options of the sub-commands of `keys`. */
export interface KeysOptions {
  data?: string;
  database?: string;
  workspace?: string;
  json?: boolean;
}

/** `fleetloom keys create`: prints only the key on standard output; it cannot be shown again. */
export async function createKey(io: Io, name: string, options: KeysOptions): Promise<number> {
  const workspaceId = toWorkspaceId(options.workspace ?? 'default');
  if (name.trim() === '' || name.length > limits.keyNameCharsMax) {
    throw new UsageError(
      `The name of a key has 1 to ${limits.keyNameCharsMax} characters; this one has ${name.length}.`,
      'Pass a name such as its owner.',
    );
  }
  const { key, secret } = await withKeys(io, options, (keys) => keys.create({ kind: 'api', name, workspaceId }));
  if (options.json === true) await writeText(io.stdout, `${JSON.stringify({ ...show(key), key: secret })}\n`);
  else {
    io.stderr.write(`${key.id} for ${workspaceId}. The key is shown only once:\n`);
    await writeText(io.stdout, `${secret}\n`);
  }
  return exitCode.ok;
}

/** `fleetloom keys list`: lists the keys, oldest first. */
export async function listKeys(io: Io, options: KeysOptions): Promise<number> {
  const shown = (await withKeys(io, options, (keys) => keys.list())).map(show);
  if (options.json === true) await writeText(io.stdout, shown.map((key) => `${JSON.stringify(key)}\n`).join(''));
  else if (shown.length === 0)
    io.stderr.write(toPasted(io, 'There are no keys. Create one with "fleetloom keys create <name>".\n'));
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

/** `fleetloom keys revoke`: revokes all given keys, or none of them if one does not exist. */
export async function revokeKeys(io: Io, ids: readonly string[], options: KeysOptions): Promise<number> {
  await withKeys(io, options, async (keys) => {
    const known = new Set((await keys.list()).map(({ id }) => id));
    const unknown = ids.find((id) => !known.has(id));
    if (unknown !== undefined) {
      throw new CommandError(exitCode.notFound, `There is no key ${unknown}.`, '"fleetloom keys list" lists the keys.');
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
    throw new UsageError(error.message, '"fleetloom keys --help" lists the options.');
  }
}

function show(key: Awaited<ReturnType<Keys['list']>>[number]) {
  const { id, kind, name, workspaceId, createdAt } = key;
  return { id, kind, name, workspace_id: workspaceId, created_at: new Date(createdAt).toISOString() };
}

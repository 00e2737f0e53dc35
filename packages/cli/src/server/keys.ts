import { type DatabaseTls, FleetloomError, openKeys, toFleetKey } from '@fleetloom/server';
import { CommandError } from '../base/command-error.ts';
import { toDataDirectory } from '../connection/data-directory.ts';
import { toWorkspaceId } from '../connection/to-workspace-id.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { printTable } from '../terminal/print-table.ts';
import { UsageError } from '../base/usage-error.ts';
import { writeText } from '../base/write-text.ts';
import { toDatabaseTls } from './network-options.ts';
import { toDatabase } from './serve.ts';
import { toKeyLimits, toOverlapMs } from './key-options.ts';
import { toPasted } from '../base/to-pasted.ts';

/** Options of the sub-commands of `keys`. */
export interface KeysOptions {
  data?: string;
  database?: string;
  databaseTls?: DatabaseTls;
  workspace?: string;
  scope?: string[];
  expires?: string;
  directory?: string[];
  engine?: string[];
  overlap?: string;
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
  const fields = { kind: 'api', name, workspaceId, ...toKeyLimits(options, Date.now()) } as const;
  const { key, secret } = await withKeys(io, options, (keys) => keys.create(fields));
  if (options.json === true) await writeText(io.stdout, `${JSON.stringify({ ...show(key), key: secret })}\n`);
  else {
    io.stderr.write(`${key.id} for ${workspaceId}. The key is shown only once:\n`);
    await writeText(io.stdout, `${secret}\n`);
  }
  return exitCode.ok;
}

/** `fleetloom keys list`: lists the keys, oldest first. */
export async function listKeys(io: Io, options: KeysOptions): Promise<number> {
  const shown = await withKeys(io, options, async (keys) => {
    const [all, uses] = await Promise.all([keys.list(), keys.lastUses()]);
    return all.map((key) => show(key, uses.get(key.id)));
  });
  if (options.json === true) await writeText(io.stdout, shown.map((key) => `${JSON.stringify(key)}\n`).join(''));
  else if (shown.length === 0)
    io.stderr.write(toPasted(io, 'There are no keys. Create one with "fleetloom keys create <name>".\n'));
  else {
    const rows = shown.map((key) => [
      key.id,
      key.kind,
      key.workspace_id,
      key.created_at.slice(0, 16),
      key.scopes?.join(',') ?? (key.kind === 'api' ? 'all' : '-'),
      key.expires_at?.slice(0, 16) ?? 'never',
      key.last_used_at?.slice(0, 16) ?? '-',
      [...(key.directories ?? []), ...(key.engines ?? [])].join(',') || '-',
      key.name,
    ]);
    const names = ['KEY', 'KIND', 'WORKSPACE', 'CREATED', 'SCOPES', 'EXPIRES', 'LAST USE', 'ONLY FOR', 'NAME'];
    await printTable(io, names, rows);
  }
  return exitCode.ok;
}

/** `fleetloom keys rotate`: prints only the new secret on standard output. */
export async function rotateKey(io: Io, id: string, options: KeysOptions): Promise<number> {
  const overlapMs = toOverlapMs(options.overlap);
  const rotated = await withKeys(io, options, (keys) => keys.rotate(id, overlapMs === undefined ? {} : { overlapMs }));
  if (rotated === undefined) throw unknownKey(id, 'API key');
  const { key, secret } = rotated;
  const shown = show(key);
  if (options.json === true) await writeText(io.stdout, `${JSON.stringify({ ...shown, key: secret })}\n`);
  else {
    const until = shown.overlap_until;
    const old = until === null ? 'does not work any more' : `works until ${until}`;
    io.stderr.write(`${id}: the old secret ${old}. The new one is shown only once:\n`);
    await writeText(io.stdout, `${secret}\n`);
  }
  return exitCode.ok;
}

/** `fleetloom keys revoke`: revokes all given keys, or none of them if one does not exist. */
export async function revokeKeys(io: Io, ids: readonly string[], options: KeysOptions): Promise<number> {
  await withKeys(io, options, async (keys) => {
    const known = new Set((await keys.list()).map(({ id }) => id));
    const unknown = ids.find((id) => !known.has(id));
    if (unknown !== undefined) throw unknownKey(unknown);
    for (const id of ids) await keys.revoke(id);
  });
  await writeText(io.stdout, ids.map((id) => `${id}\n`).join(''));
  return exitCode.ok;
}

type Keys = Awaited<ReturnType<typeof openKeys>>['keys'];

async function withKeys<Result>(io: Io, options: KeysOptions, work: (keys: Keys) => Promise<Result>): Promise<Result> {
  const database = toDatabase(options, io.env['FLEETLOOM_DATABASE']);
  try {
    const databaseTls = toDatabaseTls(io.env, options.databaseTls);
    const dataDirectory = toDataDirectory(io.env, options.data);
    const { keys, close } = await openKeys({ dataDirectory, database, databaseTls });
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

function show(key: Awaited<ReturnType<Keys['list']>>[number], lastUsedAt?: number) {
  return { ...toFleetKey(key, lastUsedAt), workspace_id: key.workspaceId };
}

function unknownKey(id: string, what = 'key'): CommandError {
  return new CommandError(exitCode.notFound, `There is no ${what} ${id}.`, '"fleetloom keys list" lists the keys.');
}

import { plural } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { writeText } from '../base/write-text.ts';
import type { ConnectionOptions } from '../connection/connection.ts';
import { printTable } from '../terminal/print-table.ts';
import { openApi } from './open-api.ts';

/** The master keys of a server, as `/v1/fleet/secrets` returns them. */
interface SecretsStatus {
  readonly key_id: string | null;
  readonly keys: readonly { readonly id: string; readonly secrets: number; readonly is_known: boolean }[];
  readonly rewrapped?: number;
  readonly unopened?: number;
}

/** `fleetloom secrets status`: the ids of the master keys, and how many secrets each has encrypted. */
export async function showSecrets(io: Io, options: ConnectionOptions & { json?: boolean }): Promise<number> {
  const status = await openApi(io, options).get<SecretsStatus>(PATH);
  if (options.json === true) {
    await writeText(io.stdout, `${toJsonText(io.stdout, status)}\n`);
    return exitCode.ok;
  }
  const rows = status.keys.map(({ id, secrets, is_known: isKnown }) => [
    id,
    String(secrets),
    id === status.key_id ? 'encrypts' : isKnown ? 'opens' : 'not known to this server',
  ]);
  if (rows.length > 0) await printTable(io, ['MASTER KEY', 'SECRETS', 'USE'], rows);
  else io.stderr.write('There is no master key, and no secret is stored.\n');
  return exitCode.ok;
}

/** `fleetloom secrets rotate`: repeats steps until no secret is left under an older key. */
export async function rotateSecrets(io: Io, options: ConnectionOptions): Promise<number> {
  const api = openApi(io, options);
  for (let total = 0; ; ) {
    const status = await api.post<SecretsStatus>(`${PATH}/rotate`, {});
    const { rewrapped = 0, unopened = 0 } = status;
    total += rewrapped;
    if (status.key_id === null) {
      const fix = 'Set FLEETLOOM_MASTER_KEY, and restart the server.';
      throw new CommandError(exitCode.refused, 'The server has no master key.', fix);
    }
    const older = status.keys.filter(({ id }) => id !== status.key_id);
    const left = older.reduce((sum, { secrets }) => sum + secrets, 0);
    if (left === 0 || (rewrapped === 0 && unopened > 0)) {
      io.stderr.write(`${plural(total, 'secret')} encrypted with ${status.key_id}.\n`);
      for (const { id, secrets } of older) await writeText(io.stdout, `${secrets} secrets under ${id}\n`);
      if (left === 0) return exitCode.ok;
      const fix = 'Start the server with FLEETLOOM_MASTER_KEY_OLD set to their key, or store these secrets again.';
      throw new CommandError(exitCode.failed, `${plural(unopened, 'secret')} cannot be opened.`, fix);
    }
    io.stderr.write(`${plural(left, 'secret')} left …\n`);
  }
}

const PATH = '/v1/fleet/secrets';

import { plural } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import type { ServerApi } from '../connection/server-api.ts';
import type { Finding } from './finding.ts';

/** The master keys of a server, as `/v1/fleet/secrets` returns them. */
interface MasterKeys {
  readonly key_id: string | null;
  readonly keys: readonly { readonly id: string; readonly secrets: number; readonly is_known: boolean }[];
}

/** Findings about the master keys that encrypted the stored secrets. Empty if the server does not report them: another check reports why. */
export async function checkMasterKeys(api: ServerApi): Promise<readonly Finding[]> {
  const status = await findStatus(api);
  return (status?.keys ?? []).map(({ id, secrets, is_known: isKnown }) =>
    toFinding(id, secrets, isKnown, status!.key_id),
  );
}

function toFinding(id: string, secrets: number, isKnown: boolean, current: string | null): Finding {
  const name = 'Master key';
  const count = plural(secrets, 'secret');
  if (id === current) return { name, state: 'ok', text: `${id} encrypts (${count})` };
  if (!isKnown) {
    const fix = 'Start the server with FLEETLOOM_MASTER_KEY_OLD set to that key, or store these secrets again.';
    return { name, state: 'problem', text: `${id} is not known to the server (${count})`, fix };
  }
  const fix = secrets === 0 ? 'Start the server without FLEETLOOM_MASTER_KEY_OLD.' : 'Run "fleetloom secrets rotate".';
  return { name, state: 'note', text: `${id} only opens (${count})`, fix };
}

async function findStatus(api: ServerApi): Promise<MasterKeys | undefined> {
  try {
    return await api.get<MasterKeys>('/v1/fleet/secrets');
  } catch (error) {
    // The server is not running or older, or the key lacks the scope.
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}

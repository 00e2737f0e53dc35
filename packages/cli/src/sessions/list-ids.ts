import type { FleetSessionList, StandingRule } from '@fleetloom/protocol/fleet';
import { sessionStates } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { writeText } from '../base/write-text.ts';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { toDistinctIds } from './distinct-ids.ts';

/**
 * Prints the ids that begin with a word, one per line with a description behind a tab, as completion scripts read them. Prints nothing
 * without a server: a shell that completes a word must not show errors.
 */
export async function listIds(io: Io, kind: string, word: string, options: ConnectionOptions): Promise<number> {
  const found = await readIds(io, kind, word, options).catch(() => []);
  const lines = found.flatMap(({ id, about }) => (PLAIN.test(id) ? [`${id}\t${cleanLine(about)}\n`] : []));
  await writeText(io.stdout, lines.join(''));
  return exitCode.ok;
}

interface Found {
  readonly id: string;
  readonly about: string;
}

async function readIds(io: Io, kind: string, word: string, options: ConnectionOptions): Promise<readonly Found[]> {
  const api = createServerApi(toConnection(io.env, options), limits.completionMs);
  if (kind === 'rule') {
    const { data } = await api.get<{ data: readonly StandingRule[] }>('/v1/fleet/approval_rules');
    return data.filter(({ id }) => id.startsWith(word)).map(({ id, text }) => ({ id, about: text }));
  }
  const isWhole = word.startsWith('sesn_');
  const query = { limit: limits.completionsMax, archived: 'true', q: word === '' ? undefined : word };
  const { data } = await api.get<FleetSessionList>('/v1/fleet/sessions', query);
  const distinct = toDistinctIds(data);
  return data
    .map(({ id, state, name }) => ({
      id: isWhole ? id : distinct.get(id)!,
      about: `${sessionStates[state].label}: ${name}`,
    }))
    .filter(({ id }) => id.startsWith(word));
}

/** Ids with only these characters are printed, because shells expand others. */
const PLAIN = /^[A-Za-z0-9_]+$/;

import type { Session, Status } from '@fleetloom/protocol/managed-agents';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { toJsonText } from '../json-text.ts';
import { limits } from '../limits.ts';
import { printTable } from '../terminal/print-table.ts';
import { writeText } from '../write-text.ts';
import { toSessionCells } from '../fleet/session-cells.ts';

export interface SessionsOptions extends ConnectionOptions {
  json?: boolean;
  status?: Status[];
  limit?: number;
}

/** `fleetloom sessions`: what there is, the newest first. */
export async function sessions(io: Io, options: SessionsOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options), limits.callMs, () => io.timers.now());
  const limit = options.limit ?? limits.sessionsListed;
  const query = { limit: Math.min(limit, PAGE_ITEMS), statuses: options.status };
  const rows: string[][] = [];
  let count = 0;
  for await (const session of api.list<Session>('/v1/sessions', query)) {
    if (count === limit) break;
    count += 1;
    // Each as it comes: a list may be long, and its reader may have gone.
    if (options.json === true) await writeText(io.stdout, `${toJsonText(io.stdout, session)}\n`);
    else rows.push(toSessionCells(session, api.clock.toServerTime(io.timers.now())));
  }
  if (options.json === true) return exitCode.ok;
  if (rows.length === 0) io.stderr.write('There are no such sessions. "fleetloom run" makes one.\n');
  else await printTable(io, ['SESSION', 'STATUS', 'AGENT', 'AGE', 'COST', 'TITLE'], rows);
  return exitCode.ok;
}

/** What the server gives at a time. */
const PAGE_ITEMS = 100;

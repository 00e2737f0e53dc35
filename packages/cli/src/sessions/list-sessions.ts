import {
  hasExamplePrice,
  type FleetSession,
  type FleetSessionList,
  type FleetSessionSort,
  type FleetSessionState,
  sessionStates,
} from '@fleetloom/protocol/fleet';
import { formatAge, formatCost, plural } from '@fleetloom/protocol/text';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi, type ServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { limits } from '../base/limits.ts';
import { toDistinctIds } from './distinct-ids.ts';
import { printTable } from '../terminal/print-table.ts';
import { writeText } from '../base/write-text.ts';
import { describeCounts } from '../fleet/describe-counts.ts';
import { toPasted } from '../base/to-pasted.ts';

/** Options of `sessions`. */
export interface SessionsOptions extends ConnectionOptions {
  json?: boolean;
  status?: FleetSessionState[];
  search?: string;
  agent?: string[];
  model?: string[];
  since?: string;
  until?: string;
  minCost?: number;
  archived?: boolean;
  sort?: FleetSessionSort;
  limit?: number;
}

/** `fleetloom sessions`: lists sessions as the server finds and counts them, the newest activity first. */
export async function listSessions(io: Io, options: SessionsOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options), limits.callMs, () => io.timers.now());
  const found: FleetSession[] = [];
  let last: FleetSessionList | undefined;
  for await (const page of readPages(api, options)) {
    last = page;
    for (const session of page.data) {
      // Written one by one, because a list may be long and its reader may close the pipe.
      if (options.json === true) await writeText(io.stdout, `${toJsonText(io.stdout, session)}\n`);
      else found.push(session);
    }
  }
  if (options.json === true || last === undefined) return exitCode.ok;
  const ids = toDistinctIds(found);
  const nowMs = api.clock.toServerTime(io.timers.now());
  const rows = found.map((session) => [ids.get(session.id)!, ...toCells(session, nowMs)]);
  if (rows.length > 0) await printTable(io, ['SESSION', 'STATE', 'AGENT', 'ACTIVE', 'COST', 'NAME'], rows);
  io.stderr.write(toPasted(io, `${describeList(last, rows.length)}\n`));
  return exitCode.ok;
}

async function* readPages(api: ServerApi, options: SessionsOptions): AsyncGenerator<FleetSessionList, void, undefined> {
  const { status, search, agent, model, since, until, minCost, archived, sort } = options;
  let left = options.limit ?? limits.sessionsListed;
  let cursor: string | undefined;
  do {
    const page: FleetSessionList = await api.get('/v1/fleet/sessions', {
      status,
      q: search,
      agent,
      model,
      from: since,
      to: until,
      min_cost: minCost,
      archived: archived === true ? 'true' : undefined,
      sort,
      cursor,
      limit: Math.min(left, PAGE_ITEMS),
    });
    yield page;
    left -= page.data.length;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && left > 0);
}

/** The largest page of the server. */
const PAGE_ITEMS = 200;

function toCells({ state, agent, last_activity_at: at, cost_usd: cost, model, name }: FleetSession, nowMs: number) {
  // An unknown price is not the same as zero.
  return [
    sessionStates[state].label,
    agent.name,
    formatAge(nowMs - Date.parse(at)),
    cost === null ? '' : `${hasExamplePrice(model) ? 'e.g. ' : ''}${formatCost(cost)}`,
    name,
  ];
}

function describeList({ total, facets, unlisted_count: unlisted }: FleetSessionList, shown: number): string {
  const counts = describeCounts(facets);
  if (total === 0 && counts === '') return 'No sessions found. Create one with "fleetloom run".';
  const part =
    shown < total ? `${shown.toLocaleString('en-US')} of ${plural(total, 'session')}` : plural(total, 'session');
  const more = unlisted === 0 ? '' : `, ${unlisted} more are being added to the list`;
  return `${part}${more}${counts === '' ? '' : ` · all: ${counts}`}`;
}

import type { SessionThread } from '@fleetloom/protocol/managed-agents';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import { toThreadCells } from '../fleet/session-cells.ts';
import { toThreadLabel } from '../fleet/thread-label.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { printTable } from '../terminal/print-table.ts';
import { writeText } from '../base/write-text.ts';

/** Options of `threads`. */
export interface ThreadsOptions extends ConnectionOptions {
  json?: boolean;
}

/** `fleetloom threads`: lists the threads of a session as a tree. */
export async function listThreads(io: Io, session: string, options: ThreadsOptions): Promise<number> {
  const api = createServerApi(toConnection(io.env, options));
  const all: SessionThread[] = [];
  for await (const thread of api.list<SessionThread>(`/v1/sessions/${encodeURIComponent(session)}/threads`))
    all.push(thread);
  if (options.json === true) {
    for (const thread of all) await writeText(io.stdout, `${toJsonText(io.stdout, thread)}\n`);
    return exitCode.ok;
  }
  const rows = inTree(all).map(({ thread, depth }) => toThreadCells(thread, depth, toThreadLabel(thread, all)));
  await printTable(io, ['THREAD', 'STATUS', 'AGENT', 'MODEL', 'ACTIVE', 'TOKENS', 'COST'], rows);
  return exitCode.ok;
}

interface Placed {
  readonly thread: SessionThread;
  readonly depth: number;
}

/** Threads in tree order. A thread whose parent is missing is a root. */
function inTree(all: readonly SessionThread[]): Placed[] {
  const known = new Set(all.map(({ id }) => id));
  const place = (parent: string | null, depth: number): Placed[] =>
    all
      .filter(({ parent_thread_id: id }) => (id !== null && known.has(id) ? id : null) === parent)
      .flatMap((thread) => [{ thread, depth }, ...place(thread.id, depth + 1)]);
  return place(null, 0);
}

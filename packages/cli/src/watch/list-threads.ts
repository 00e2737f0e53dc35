import type { SessionThread } from '@fleetloom/protocol/managed-agents';
import { type ConnectionOptions, toConnection } from '../connection/connection.ts';
import { createServerApi } from '../connection/server-api.ts';
import { exitCode } from '../base/exit-code.ts';
import { toThreadCells } from '../fleet/session-cells.ts';
import { toThreadLabel } from '../fleet/thread-label.ts';
import type { Io } from '../base/io.ts';
import { toJsonText } from '../base/json-text.ts';
import { readPresent } from './watch.ts';
import type { WatchModel } from './state/watch-model.ts';
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
  const present = await readPresent(io, api, session);
  if (typeof present === 'string') return exitCode[present];
  const stateOf = toStates(present);
  const rows = inTree(all).map(({ thread, depth }) => {
    const { state, ordinal } = stateOf(thread);
    const label = `${toThreadLabel(thread, all)}${ordinal > 0 ? ` ${ordinal}` : ''}`;
    return toThreadCells(thread, { state, depth, label });
  });
  await printTable(io, ['THREAD', 'STATE', 'AGENT', 'MODEL', 'ACTIVE', 'TOKENS', 'COST'], rows);
  return exitCode.ok;
}

/** States and numbers of threads as `watch` and the dashboard show them: on the wire, a waiting or failed thread is idle. */
function toStates({ model, nowMs }: { readonly model: WatchModel; readonly nowMs: number }) {
  const pending = model.pendingCalls(nowMs);
  const shown = new Map(
    model.threads().map((row) => {
      const { word: state } = model.stateOf(row, nowMs, pending);
      return [row.threadId, { state, ordinal: row.ordinal }];
    }),
  );
  return ({ id, status }: SessionThread) => shown.get(id) ?? { state: status, ordinal: 0 };
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

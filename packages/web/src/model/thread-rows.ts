import {
  type Approval,
  type FleetUsage,
  layoutRun,
  type LoadedSettings,
  type Run,
  type SessionSlots,
  type Slot,
} from '@fleetloom/protocol/fleet';

/** One thread in its place in the tree: what it does now, and what it took over all its turns. */
export interface ThreadRow {
  /** Stays the same as long as the thread is known. */
  readonly key: string;
  readonly sessionId: string;
  readonly threadId: string | null;
  /** Its title, or the name of its agent. */
  readonly agent: string;
  /** Which of several with the same name it is, from 1; 0 if it is the only one. */
  readonly ordinal: number;
  readonly level: number;
  /** Of each level: whether another branch follows there. The last one is its own. */
  readonly branches: readonly boolean[];
  /** The keys of those above it, the coordinator first. */
  readonly above: readonly string[];
  readonly hasChildren: boolean;
  /** Its newest turn. */
  readonly slot: Slot;
  readonly turns: number;
  readonly errors: number;
  /** Its own, over all turns that are known; and with all that it delegated. */
  readonly usage: FleetUsage;
  readonly usageBelow: FleetUsage;
  readonly approvals: readonly Approval[];
  /** What its program has loaded beside the definition, when the program was last started. */
  readonly settings: LoadedSettings | null;
}

/** The threads of a session, each once, in the order of the tree. Turns come and go; people think in threads. */
export function toThreadRows(slots: SessionSlots): readonly ThreadRow[] {
  const known = rowsOf.get(slots.runs);
  if (known !== undefined) return known;
  const roots = [...collect(slots.runs).values()].filter(({ parent }) => parent === undefined);
  const rows = number(roots.flatMap((root) => toRows(root, slots.sessionId ?? '', [], [])));
  rowsOf.set(slots.runs, rows);
  return rows;
}

/** Views ask for the same rows several times, and the runs stay the same object while nothing happens. */
const rowsOf = new WeakMap<readonly Run[], readonly ThreadRow[]>();

/** Where the wire does not name the thread, each turn is one. */
export function threadKey(slot: { readonly threadId: string | null; readonly streamId: number }, run: number): string {
  return slot.threadId ?? `${run}.${slot.streamId}`;
}

/** A thread while its turns are gathered. */
interface Gathered {
  readonly key: string;
  readonly parent: Gathered | undefined;
  readonly children: Gathered[];
  slot: Slot;
  run: number;
  turns: number;
  errors: number;
  usage: FleetUsage;
  approvals: readonly Approval[];
  settings: LoadedSettings | null;
}

function collect(runs: readonly Run[]): ReadonlyMap<string, Gathered> {
  const threads = new Map<string, Gathered>();
  for (const [index, run] of runs.entries()) {
    for (const { slot } of layoutRun(run)) {
      const key = threadKey(slot, index);
      const known = threads.get(key);
      const approvals = run.approvals.filter(({ state, streamId }) => state === 'open' && streamId === slot.streamId);
      const errors = slot.toolsFailed + (slot.state === 'failed' && slot.stopReason !== 'cancelled' ? 1 : 0);
      if (known === undefined) {
        const parent = findParent(threads, run, index, slot);
        const { usage, settings } = slot;
        const about = { slot, run: index, turns: 1, errors, usage, approvals, settings };
        const added: Gathered = { key, parent, children: [], ...about };
        parent?.children.push(added);
        threads.set(key, added);
        continue;
      }
      // Numbers begin anew with every run, and rows of one run stand in the order of the tree.
      if (known.run < index || known.slot.streamId < slot.streamId) Object.assign(known, { slot, run: index });
      known.turns += 1;
      known.settings = slot.settings ?? known.settings;
      known.errors += errors;
      known.usage = plus(known.usage, slot.usage);
      known.approvals = [...known.approvals, ...approvals];
    }
  }
  return threads;
}

/** A turn that was started by a message names no parent: then it hangs below the coordinator. */
function findParent(threads: ReadonlyMap<string, Gathered>, run: Run, index: number, slot: Slot): Gathered | undefined {
  const above = run.slots.find(({ streamId }) => streamId === slot.parentStreamId);
  const named = above === undefined ? undefined : threads.get(threadKey(above, index));
  if (named !== undefined || slot.depth === 0) return named;
  return [...threads.values()].find(({ parent, slot: { depth } }) => parent === undefined && depth === 0);
}

function toRows(
  thread: Gathered,
  sessionId: string,
  branches: readonly boolean[],
  above: readonly string[],
): ThreadRow[] {
  const { key, slot, turns, errors, usage, approvals, settings, children } = thread;
  const below = children.map((child, index) =>
    toRows(child, sessionId, [...branches, index < children.length - 1], [...above, key]),
  );
  const usageBelow = below.reduce((sum, [first]) => (first === undefined ? sum : plus(sum, first.usageBelow)), usage);
  const { threadId, title, agent: name } = slot;
  const agent = title ?? name;
  const row = {
    key,
    sessionId,
    threadId,
    agent,
    ordinal: 0,
    level: branches.length,
    branches,
    above,
    hasChildren: children.length > 0,
    slot,
    turns,
    errors,
    usage,
    usageBelow,
    approvals,
    settings,
  };
  return [row, ...below.flat()];
}

/** In the order in which they stand, so that a name stays with its thread. */
function number(rows: readonly ThreadRow[]): readonly ThreadRow[] {
  const counts = new Map<string, number>();
  for (const { agent } of rows) counts.set(agent, (counts.get(agent) ?? 0) + 1);
  const given = new Map<string, number>();
  return rows.map((row) => {
    if (counts.get(row.agent) === 1) return row;
    const ordinal = (given.get(row.agent) ?? 0) + 1;
    given.set(row.agent, ordinal);
    return { ...row, ordinal };
  });
}

export function plus(sum: FleetUsage, more: FleetUsage): FleetUsage {
  return {
    requests: sum.requests + more.requests,
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    cacheReadTokens: sum.cacheReadTokens + more.cacheReadTokens,
    cacheCreateTokens: sum.cacheCreateTokens + more.cacheCreateTokens,
    costUsd: sum.costUsd + more.costUsd,
    requestsWithoutCost: sum.requestsWithoutCost + more.requestsWithoutCost,
  };
}

export function tokensOf({ inputTokens, outputTokens, cacheReadTokens, cacheCreateTokens }: FleetUsage): number {
  return inputTokens + outputTokens + cacheReadTokens + cacheCreateTokens;
}

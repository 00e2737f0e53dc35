import { type Approval, type FleetUsage, layoutRun, type Run, type Slot } from '@fleetloom/protocol/fleet';

/** One thread in its place in the tree: what it does now, and what it took over all its turns. */
export interface ThreadRow {
  /** Stays the same as long as the thread is known. */
  readonly key: string;
  readonly threadId: string | null;
  /** Its title, or the name of its agent. */
  readonly agent: string;
  /** Of each level above: whether another branch follows there. The last one is its own. Empty for the coordinator. */
  readonly branches: readonly boolean[];
  /** Its newest turn. */
  readonly slot: Slot;
  readonly turns: number;
  /** Its own, over all turns that are known. */
  readonly usage: FleetUsage;
  /** With all that it delegated. */
  readonly usageBelow: FleetUsage;
  readonly approvals: readonly Approval[];
  /** How full the window of its model was after its newest answer. */
  readonly context: Slot['context'];
  /** The rows below it, as far down as they go, follow it at once. */
  readonly rowsBelow: number;
}

/**
 * The threads of a session, each once, in the order of the tree. Turns come and go; a thread stays, and people think in
 * threads. The order is that of `layoutRun`, run after run.
 */
export function toThreadRows(runs: readonly Run[]): readonly ThreadRow[] {
  const threads = collect(runs);
  const roots = [...threads.values()].filter(({ parent }) => parent === undefined);
  return roots.flatMap((root) => toRows(root, []));
}

/** A thread while its turns are gathered. */
interface Gathered {
  readonly key: string;
  readonly parent: Gathered | undefined;
  readonly children: Gathered[];
  /** The newest turn, and the place of its run. */
  slot: Slot;
  run: number;
  turns: number;
  usage: FleetUsage;
  approvals: readonly Approval[];
  context: Slot['context'];
}

function collect(runs: readonly Run[]): ReadonlyMap<string, Gathered> {
  const threads = new Map<string, Gathered>();
  for (const [index, run] of runs.entries()) {
    for (const { slot } of layoutRun(run)) {
      const key = keyOf(slot, index);
      const known = threads.get(key);
      const approvals = run.approvals.filter(({ state, streamId }) => state === 'open' && streamId === slot.streamId);
      if (known === undefined) {
        const parent = findParent(threads, run, index, slot);
        const { usage, context } = slot;
        const added: Gathered = { key, parent, children: [], slot, run: index, turns: 1, usage, approvals, context };
        parent?.children.push(added);
        threads.set(key, added);
      } else {
        // Numbers begin anew with every run, and rows of one run stand in the order of the tree.
        if (known.run < index || known.slot.streamId < slot.streamId) {
          // A turn that has no answer yet says nothing about its window.
          Object.assign(known, { slot, run: index, context: slot.context ?? known.context });
        }
        known.turns += 1;
        known.usage = plus(known.usage, slot.usage);
        known.approvals = [...known.approvals, ...approvals];
      }
    }
  }
  return threads;
}

/** Where the wire does not name the thread, each turn is one. */
function keyOf({ threadId, streamId }: Slot, run: number): string {
  return threadId ?? `${run}.${streamId}`;
}

/** A turn that was started by a message names no parent: then it hangs below the coordinator. */
function findParent(threads: ReadonlyMap<string, Gathered>, run: Run, index: number, slot: Slot): Gathered | undefined {
  const above = run.slots.find(({ streamId }) => streamId === slot.parentStreamId);
  const named = above === undefined ? undefined : threads.get(keyOf(above, index));
  if (named !== undefined || slot.depth === 0) return named;
  return [...threads.values()].find(({ parent, slot: { depth } }) => parent === undefined && depth === 0);
}

function toRows(thread: Gathered, branches: readonly boolean[]): ThreadRow[] {
  const { key, slot, turns, usage, approvals, context, children } = thread;
  const below = children.map((child, index) => toRows(child, [...branches, index < children.length - 1]));
  const usageBelow = below.reduce((sum, [first]) => (first === undefined ? sum : plus(sum, first.usageBelow)), usage);
  const { threadId, title, agent: name } = slot;
  const agent = title ?? name;
  const rows = below.flat();
  const row = { key, threadId, agent, branches, slot, turns, usage, usageBelow, approvals, context };
  return [{ ...row, rowsBelow: rows.length }, ...rows];
}

function plus(sum: FleetUsage, more: FleetUsage): FleetUsage {
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

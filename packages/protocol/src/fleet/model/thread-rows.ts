import type { Approval } from '../slots/approval.ts';
import type { Run } from '../slots/run.ts';
import type { Slot } from '../slots/slot.ts';
import { addUsage, type FleetUsage } from '../slots/usage.ts';
import type { LoadedSettings } from '../wire/events.ts';
import { layoutRun } from './layout-run.ts';

/** One thread in its position in the tree: its newest turn, and the sums over all its turns. */
export interface ThreadRow {
  /** Identifies the thread for as long as the session keeps any of its turns. */
  readonly key: string;
  readonly threadId: string | null;
  /** The title of the thread, or the name of its agent. */
  readonly agent: string;
  /** Which of several threads with this name it is, from 1; 0 if it is the only one. */
  readonly ordinal: number;
  /** Levels below the coordinator. */
  readonly level: number;
  /** For each level down to the level of the row: whether another branch follows there. Empty for the coordinator. */
  readonly branches: readonly boolean[];
  /** The keys of the threads above this one, the coordinator first. */
  readonly above: readonly string[];
  readonly hasChildren: boolean;
  /** How many rows belong to the subtree of this row: they follow it directly. */
  readonly rowsBelow: number;
  /** The newest turn. */
  readonly slot: Slot;
  readonly turns: number;
  /** Failed tool calls and failed turns; cancelled turns are not counted. */
  readonly errors: number;
  /** The thread's own usage, over all turns that are kept. */
  readonly usage: FleetUsage;
  /** The usage with everything the thread delegated. */
  readonly usageBelow: FleetUsage;
  /** Pending approvals of its turns. */
  readonly approvals: readonly Approval[];
  /** How full the model's context window was after the newest response. */
  readonly context: Slot['context'];
  /** The settings that its program loaded in addition to the agent's definition at its last start. */
  readonly settings: LoadedSettings | null;
}

/**
 * The threads of a session, each once, in the order of the tree. A thread has many turns, and a person follows threads.
 * The order is that of {@link layoutRun}, run after run. Equal runs return the same array.
 */
export function toThreadRows(runs: readonly Run[]): readonly ThreadRow[] {
  const known = rowsOf.get(runs);
  if (known !== undefined) return known;
  const roots = [...collect(runs).values()].filter(({ parent }) => parent === undefined);
  const rows = withOrdinals(roots.flatMap((root) => toRows(root, [], [])));
  rowsOf.set(runs, rows);
  return rows;
}

/** Views ask for the same rows several times, and the runs stay the same object until the next event. */
const rowsOf = new WeakMap<readonly Run[], readonly ThreadRow[]>();

/** The key of a turn's thread. Where the wire has no thread id, each turn is a thread of its own. */
export function threadKey(slot: Pick<Slot, 'threadId' | 'streamId'>, runIndex: number): string {
  return slot.threadId ?? `${runIndex}.${slot.streamId}`;
}

/** A thread while its turns are collected. */
interface Collected {
  readonly key: string;
  readonly parent: Collected | undefined;
  readonly children: Collected[];
  slot: Slot;
  run: number;
  turns: number;
  errors: number;
  usage: FleetUsage;
  approvals: readonly Approval[];
  context: Slot['context'];
  settings: LoadedSettings | null;
}

function collect(runs: readonly Run[]): ReadonlyMap<string, Collected> {
  const threads = new Map<string, Collected>();
  for (const [index, run] of runs.entries()) {
    for (const { slot } of layoutRun(run)) {
      const key = threadKey(slot, index);
      const known = threads.get(key);
      const approvals = run.approvals.filter(({ state, streamId }) => state === 'open' && streamId === slot.streamId);
      const errors = slot.toolsFailed + (slot.state === 'failed' && slot.stopReason !== 'cancelled' ? 1 : 0);
      if (known === undefined) {
        const parent = findParent(threads, run, index, slot);
        const { usage, context, settings } = slot;
        const own = { slot, run: index, turns: 1, errors, usage, approvals, context, settings };
        const added: Collected = { key, parent, children: [], ...own };
        parent?.children.push(added);
        threads.set(key, added);
        continue;
      }
      // Stream ids restart with every run, and within a run the rows are in tree order, not in order of time.
      if (known.run < index || known.slot.streamId < slot.streamId) {
        // A turn without a response yet does not know its context window.
        Object.assign(known, { slot, run: index, context: slot.context ?? known.context });
      }
      known.turns += 1;
      known.settings = slot.settings ?? known.settings;
      known.errors += errors;
      known.usage = addUsage(known.usage, slot.usage);
      known.approvals = [...known.approvals, ...approvals];
    }
  }
  return threads;
}

/** The parent of a turn. A turn that was started by a message does not name one: it is placed below the coordinator. */
function findParent(
  threads: ReadonlyMap<string, Collected>,
  run: Run,
  index: number,
  slot: Slot,
): Collected | undefined {
  const above = run.slots.find(({ streamId }) => streamId === slot.parentStreamId);
  const named = above === undefined ? undefined : threads.get(threadKey(above, index));
  if (named !== undefined || slot.depth === 0) return named;
  return [...threads.values()].find(({ parent, slot: { depth } }) => parent === undefined && depth === 0);
}

function toRows(thread: Collected, branches: readonly boolean[], above: readonly string[]): ThreadRow[] {
  const { key, slot, turns, errors, usage, approvals, context, settings, children } = thread;
  const below = children.map((child, index) =>
    toRows(child, [...branches, index < children.length - 1], [...above, key]),
  );
  const usageBelow = below.reduce(
    (sum, [first]) => (first === undefined ? sum : addUsage(sum, first.usageBelow)),
    usage,
  );
  const rows = below.flat();
  const row: ThreadRow = {
    key,
    threadId: slot.threadId,
    agent: slot.title ?? slot.agent,
    ordinal: 0,
    level: branches.length,
    branches,
    above,
    hasChildren: children.length > 0,
    rowsBelow: rows.length,
    slot,
    turns,
    errors,
    usage,
    usageBelow,
    approvals,
    context,
    settings,
  };
  return [row, ...rows];
}

/** Numbers threads of the same name in row order, so that a number stays with its thread. */
function withOrdinals(rows: readonly ThreadRow[]): readonly ThreadRow[] {
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

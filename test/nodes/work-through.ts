import { setMaxListeners } from 'node:events';
import type { Cluster } from './cluster.ts';
import type { Findings } from './findings.ts';

/** One session with its clients. */
export interface Worked {
  readonly id: string;
  readonly isDone: boolean;
  run(signal: AbortSignal, isOver: () => boolean): Promise<void>;
  /** Checks the session once it is idle. */
  findProblems(): Promise<Findings>;
}

export interface WorkThrough {
  readonly cluster: Cluster;
  /** Sessions at a time. */
  readonly count: number;
  /** Another session, with its number and the slot that it is in. */
  readonly create: (name: number, slot: number) => Worked;
  /** Whether each slot starts another session after its last one until the end; otherwise each slot has one. */
  readonly isEndless?: boolean;
  readonly happen: () => Promise<void>;
  /** How long the remaining sessions may take after the end. */
  readonly patienceMs: number;
}

export interface Totals {
  readonly sessions: number;
  readonly lost: number;
  readonly doubled: number;
  readonly gaps: number;
  readonly problems: readonly string[];
}

/** Runs sessions while faults are applied to the nodes, and then checks each session completely. */
export async function workThrough(options: WorkThrough): Promise<Totals> {
  const { count, create, isEndless = false, happen, patienceMs } = options;
  const giveUp = new AbortController();
  setMaxListeners(0, giveUp.signal);
  const works: Worked[] = [];
  let isOver = false;
  const goesOn = () => isEndless && !isOver && !giveUp.signal.aborted;
  const workOnce = async (slot: number) => {
    const work = create(works.length, slot);
    works.push(work);
    await work.run(giveUp.signal, () => isEndless && isOver);
  };
  const workAt = async (slot: number) => {
    // Spread over time, like real clients.
    await pause(slot * 20);
    do await workOnce(slot);
    while (goesOn());
  };
  const running = Array.from({ length: count }, (_, slot) => workAt(slot));
  const all = Promise.all(running);
  try {
    await Promise.race([happen(), all.then(() => new Promise(() => {}))]);
    isOver = true;
    await Promise.race([all, pause(patienceMs).then(() => Promise.reject(toLate(options.cluster, works)))]);
  } finally {
    isOver = true;
    giveUp.abort();
    await Promise.allSettled(running);
  }
  return toTotals(await findAll(works));
}

/** Checks a few sessions at a time, so that the checks do not overload the nodes. */
async function findAll(works: readonly Worked[]): Promise<Findings[]> {
  const findings: Findings[] = [];
  const left = [...works];
  const takeNext = async () => {
    for (let work = left.pop(); work !== undefined; work = left.pop()) findings.push(await work.findProblems());
  };
  await Promise.all(Array.from({ length: 6 }, takeNext));
  return findings;
}

function toTotals(findings: readonly Findings[]): Totals {
  const sum = (of: (each: Findings) => number) => findings.reduce((total, each) => total + of(each), 0);
  return {
    sessions: findings.length,
    lost: sum(({ lost }) => lost),
    doubled: sum(({ doubled }) => doubled),
    gaps: sum(({ gaps }) => gaps),
    problems: findings.flatMap((each) => each.toProblems()),
  };
}

function toLate({ nodes }: Cluster, works: readonly Worked[]): Error {
  const open = works.filter(({ isDone }) => !isDone);
  const output = nodes.map((node) => `${node.name}: ${node.stderr().slice(-2_000)}`).join('\n');
  return new Error(`${open.length} of ${works.length} sessions do not end, ${open[0]?.id} for one\n${output}`);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

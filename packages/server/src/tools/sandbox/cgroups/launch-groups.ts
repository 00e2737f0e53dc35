import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { toolLimits } from '../../limits.ts';
import { type CgroupTree, type Controller, findCgroupTrees } from './cgroup-trees.ts';
import { GroupSweeper } from './group-sweeper.ts';

/** Limits for all processes of a group together. */
export interface GroupLimits {
  readonly memoryBytes: number;
  readonly processes: number;
}

/** Set by tests. */
export interface LaunchGroupsOptions {
  readonly trees?: readonly CgroupTree[];
  readonly joinMs?: number;
  readonly sweepMs?: number;
}

/**
 * One cgroup for each launch, below one for all launches of this server. Groups are removed when their processes have
 * ended, and the groups of a server that was killed when the next server opens its own.
 */
export class LaunchGroups {
  /** The resources that are limited. Empty where the machine does not let this server create groups. */
  readonly controllers: ReadonlySet<Controller>;
  /** Why other resources are not limited. */
  readonly problem: string;
  readonly #trees: readonly CgroupTree[];
  readonly #name = `${PREFIX}${process.pid}-${readStartTime(process.pid)}`;
  readonly #sweeper: GroupSweeper;
  readonly #joinMs: number;

  constructor({ trees: found = findCgroupTrees(), ...timing }: LaunchGroupsOptions = {}) {
    this.#joinMs = timing.joinMs ?? toolLimits.sandboxJoinMs;
    this.#sweeper = new GroupSweeper(timing.sweepMs ?? toolLimits.sandboxSweepMs);
    const problems: string[] = [];
    this.#trees = found.filter((tree) => {
      const problem = this.#tryOut(tree);
      if (problem !== undefined) problems.push(problem);
      return problem === undefined;
    });
    this.controllers = new Set(this.#trees.flatMap((tree) => tree.controllers));
    this.problem = problems[0] ?? 'no cgroups are mounted';
    for (const group of this.#trees.flatMap((tree) => findAbandoned(tree))) this.#sweeper.add(group, 0);
    if (this.#trees.length > 0) process.once('exit', () => this.#removeNow());
  }

  /** Creates a group and returns the files to which a process writes `0` to join it. */
  create(wanted: GroupLimits): readonly string[] {
    const name = randomBytes(6).toString('hex');
    return this.#trees.map((tree) => join(this.#createIn(tree, name, wanted), 'cgroup.procs'));
  }

  #createIn(tree: CgroupTree, name: string, wanted: GroupLimits): string {
    const all = join(tree.directory, this.#name);
    // Missing only if a server in another container, which cannot see this process, removed it as abandoned.
    if (!existsSync(all)) this.#openServerGroup(tree);
    const group = join(all, name);
    mkdirSync(group);
    this.#sweeper.add(group, this.#joinMs);
    setLimits(tree, group, wanted);
    return group;
  }

  /** Why groups cannot be created in a tree, or undefined. */
  #tryOut(tree: CgroupTree): string | undefined {
    if (tree.controllers.length === 0) return `${tree.directory} has no controllers`;
    try {
      this.#openServerGroup(tree);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #openServerGroup(tree: CgroupTree): void {
    const all = join(tree.directory, this.#name);
    if (tree.version === 2) enable(tree, tree.directory);
    mkdirSync(all, { recursive: true });
    setLimits(tree, all, toLimitsOfAll());
    if (tree.version === 2) enable(tree, all);
  }

  #removeNow(): void {
    for (const tree of this.#trees) this.#sweeper.add(join(tree.directory, this.#name), 0);
    this.#sweeper.removeNow();
  }
}

const PREFIX = 'fleetloom-';

/** Enables limits for the groups below a group of version 2. Not written if enabled already: writing needs permission. */
function enable({ controllers }: CgroupTree, group: string): void {
  const file = join(group, 'cgroup.subtree_control');
  const enabled = new Set(readFileSync(file, 'utf8').trim().split(' '));
  const missing = controllers.filter((controller) => !enabled.has(controller));
  if (missing.length > 0) writeFileSync(file, missing.map((controller) => `+${controller}`).join(' '));
}

/** Processor time needs no number: groups share it evenly, so that no launch starves another one or the server. */
function setLimits({ version, controllers }: CgroupTree, group: string, { memoryBytes, processes }: GroupLimits): void {
  const set = (name: string, value: number): void => writeFileSync(join(group, name), `${value}`);
  if (controllers.includes('pids')) set('pids.max', processes);
  if (!controllers.includes('memory')) return;
  set(version === 2 ? 'memory.max' : 'memory.limit_in_bytes', memoryBytes);
  // No swap. In version 1 this file counts memory and swap together. Some kernels do not have it.
  const swap = version === 2 ? 'memory.swap.max' : 'memory.memsw.limit_in_bytes';
  if (existsSync(join(group, swap))) set(swap, version === 2 ? 0 : memoryBytes);
}

/** Leaves the server enough memory and process ids, however many launches there are. */
function toLimitsOfAll(): GroupLimits {
  const { sandboxesMemoryPercent, sandboxesProcessesPercent } = toolLimits;
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const processes = Math.min(readNumber('/proc/sys/kernel/pid_max'), readNumber('/proc/sys/kernel/threads-max'));
  return {
    memoryBytes: Math.floor((memory * sandboxesMemoryPercent) / 100),
    processes: Math.floor((processes * sandboxesProcessesPercent) / 100),
  };
}

function readNumber(file: string): number {
  return Number(readFileSync(file, 'utf8'));
}

/** Groups of servers that have ended, inner groups first. */
function findAbandoned({ directory }: CgroupTree): readonly string[] {
  const names = listDirectories(directory).filter((name) => {
    const [, pid, startTime] = /^fleetloom-([0-9]+)-([0-9]+)$/.exec(name) ?? [];
    return pid !== undefined && readStartTime(Number(pid)) !== startTime;
  });
  return names.flatMap((name) => {
    const group = join(directory, name);
    return [...listDirectories(group).map((inner) => join(group, inner)), group];
  });
}

/** Empty if another server has removed the directory in the meantime. */
function listDirectories(directory: string): readonly string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** The start time of a process, which distinguishes it from a later one with the same id. Undefined if it has ended. */
function readStartTime(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name, in brackets, may contain spaces and brackets. The start time is the 20th field after it.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

import { runProgram } from '../../base/process/run-program.ts';
import type { FindProgram } from '../find-program.ts';
import { ToolFailure } from '../tool-failure.ts';
import { LaunchGroups } from './cgroups/launch-groups.ts';
import { findGaps, type Protections } from './find-gaps.ts';
import { closeInherited, findInheritedDescriptors } from './inherited-descriptors.ts';
import { type Command, prepareInside, prepareOutside } from './launch-script.ts';
import { isRootForKernel, limitsProcesses } from './kernel.ts';
import { raiseEpollWatches } from './raise-epoll-watches.ts';
import { DATA_FD, type Sandbox, type SandboxState } from './sandbox.ts';
import { ACCOUNT_FILES, describeFiles, HOME, USER_ID } from './sandbox-files.ts';
import { toSandboxLimits } from './sandbox-limits.ts';
import { createSeccompFilter } from './seccomp/seccomp-filter.ts';
import { tryOut } from './try-out.ts';

/** The access of programs in the sandbox in addition to their workspace. */
export interface BubblewrapOptions {
  readonly findProgram: FindProgram;
  /** Lets programs reach the network: all of it, this machine's own services included. */
  readonly allowsNetwork?: boolean | undefined;
  /** Directories that programs may also read, such as that of a language which is installed somewhere else. */
  readonly readOnlyPaths?: readonly string[] | undefined;
}

/**
 * Bubblewrap, if it is installed and works here. It makes namespaces of the kernel, so it is not there on other systems
 * than Linux, and inside of some containers it is there and may not. Throws a {@link ToolFailure} when the machine is too
 * short of descriptors, processes or memory to try it: that must neither weaken the sandbox nor do without it.
 */
export async function openBubblewrap(options: BubblewrapOptions): Promise<SandboxState> {
  const { findProgram, allowsNetwork = false, readOnlyPaths = [] } = options;
  const [bwrap, unshare, mount, bash] = await Promise.all(
    ['bwrap', 'unshare', 'mount', 'bash'].map((name) => findProgram(name)),
  );
  if (bwrap === undefined) return { type: 'unavailable', reason: 'bubblewrap (bwrap) is not installed' };
  const machine = { bwrap, unshare, mount, bash };
  const key = JSON.stringify([machine, allowsNetwork, readOnlyPaths]);
  const opening = opened.get(key) ?? open(machine, { allowsNetwork, readOnlyPaths });
  opened.set(key, opening);
  try {
    const { state, isComplete } = await opening;
    if (!isComplete) forget(key, opening);
    return state;
  } catch (error) {
    forget(key, opening);
    throw error;
  }
}

/** Shared by all sessions of this process, so that only the first one pays for the trial. */
const opened = new Map<string, Promise<Opened>>();

interface Opened {
  readonly state: SandboxState;
  /** Whether the sandbox works with all protections that were found. */
  readonly isComplete: boolean;
}

/** Forgets a failed result, so that the next session tries again: the reason may be gone by then. */
function forget(key: string, opening: Promise<Opened>): void {
  if (opened.get(key) === opening) opened.delete(key);
}

/** Paths of the programs that a launch uses outside the sandbox. */
interface Programs {
  readonly bwrap: string;
  readonly unshare: string | undefined;
  readonly mount: string | undefined;
  readonly bash: string | undefined;
}

/** Tries all protections first, then fewer: a kernel or a container may not allow each of them. */
async function open(programs: Programs, operator: Operator): Promise<Opened> {
  const all = await findProtections(programs);
  let problem: string | undefined;
  // Tries all protections twice: one trial may fail on a machine that is short of a resource for a moment.
  for (const protections of complete.has(programs.bwrap) ? [all, all] : [all, ...weaken(all)]) {
    const sandbox = createBubblewrap(programs.bwrap, operator, protections);
    const trial = await tryOut(sandbox);
    if (trial.type === 'works') {
      const gaps = findGaps(protections, { limits: trial.limits, all, problem });
      if (protections === all) complete.add(programs.bwrap);
      return { state: { type: 'ready', sandbox, gaps }, isComplete: protections === all };
    }
    if (trial.type === 'not_started') {
      throw new ToolFailure(`the sandbox cannot be tried out now (${trial.reason}): call again later`);
    }
    problem ??= trial.reason;
  }
  return { state: { type: 'unavailable', reason: `bubblewrap does not work here (${problem})` }, isComplete: false };
}

/** Programs that have worked with all protections. Afterwards a failure does not lead to fewer protections. */
const complete = new Set<string>();

/** What the operator allows in every launch. */
interface Operator {
  readonly allowsNetwork: boolean;
  readonly readOnlyPaths: readonly string[];
}

async function findProtections({ bwrap, unshare, mount, bash }: Programs): Promise<Protections> {
  const help = await runProgram(bwrap, ['--help'], { timeoutMs: HELP_MS, outputBytesMax: 65_536 }).then(
    ({ stdout }) => stdout,
    // The trial reports the reason.
    () => '',
  );
  groups ??= new LaunchGroups();
  if (groups.controllers.has('memory')) raiseEpollWatches();
  // Another user does not own the machine's devices and cannot change them.
  const canGuard = isRootForKernel() && unshare !== undefined && mount !== undefined;
  return {
    filter: createSeccompFilter(),
    groups,
    deviceGuard: canGuard ? { unshare, mount } : undefined,
    inherited: { descriptors: await findInheritedDescriptors(), bash },
    // Since bubblewrap 0.7 and 0.8.
    canSize: help.includes('--size '),
    disablesUserNamespaces: help.includes('--disable-userns'),
  };
}

/** One instance per process, because its groups are named after the process. */
let groups: LaunchGroups | undefined;
const HELP_MS = 10_000;

/** All protections, then all but one, all but two, and so on. */
function weaken(all: Protections): readonly Protections[] {
  const optional: readonly Partial<Protections>[] = [
    { groups: undefined },
    { deviceGuard: undefined },
    { disablesUserNamespaces: false },
    { filter: undefined },
  ];
  const choices = optional.reduce<readonly Partial<Protections>[][]>(
    (before, one) => [...before, ...before.map((some) => [...some, one])],
    [[]],
  );
  const byCount = choices.toSorted((one, other) => one.length - other.length);
  return byCount.map((without) => (without.length === 0 ? all : (Object.assign({}, all, ...without) as Protections)));
}

function createBubblewrap(bwrap: string, operator: Operator, protections: Protections): Sandbox {
  const { filter, groups, deviceGuard, inherited, canSize, disablesUserNamespaces } = protections;
  const isCounted = limitsProcesses();
  return {
    launch: (request) => {
      const limits = toSandboxLimits(request.limits);
      const { allowsNetwork = operator.allowsNetwork, environment } = request;
      const processes = isCounted ? limits.processes : undefined;
      const { temporaryBytes } = limits;
      const prepared = prepareOutside(
        [
          bwrap,
          ...isolation(allowsNetwork),
          ...(disablesUserNamespaces ? ['--disable-userns'] : []),
          ...describeFiles({ ...request, allowsNetwork, temporaryBytes }, { ...operator, canSize }),
          ...(filter === undefined ? [] : ['--seccomp', `${DATA_FD + ACCOUNT_FILES.length}`]),
          '--',
          ...prepareInside([request.program, ...request.args], { processes }),
        ],
        { limits, groupFiles: groups?.create(limits) ?? [], deviceGuard },
      );
      const [file, ...args] = withoutInherited(prepared, inherited);
      const data = filter === undefined ? ACCOUNT_FILES : [...ACCOUNT_FILES, filter];
      return { file, args, env: { ...ENVIRONMENT, ...environment }, data };
    },
  };
}

function withoutInherited(command: Command, { bash, descriptors }: Protections['inherited']): Command {
  return bash === undefined || descriptors.length === 0 ? command : closeInherited(command, bash, descriptors);
}

/** Isolation from the machine: a user and process ids of its own, and nothing that outlives this process. */
function isolation(allowsNetwork: boolean): string[] {
  // Needed above all if the server is root: a program that is root inside would own the files outside.
  const isolated = `--unshare-all --unshare-user --uid ${USER_ID} --gid ${USER_ID} --cap-drop ALL --hostname fleetloom`;
  // The first kills everything inside when the server dies; the second prevents input into the server's terminal.
  const nothing = '--die-with-parent --new-session';
  return `${isolated} ${nothing}${allowsNetwork ? ' --share-net' : ''}`.split(' ');
}

/** All environment variables that programs get. The server's own environment contains secrets. */
const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME,
  USER: 'agent',
  LOGNAME: 'agent',
  SHELL: '/bin/bash',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
};

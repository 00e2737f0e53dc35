import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { findProgram } from '../find-program.ts';
import { openBubblewrap } from './bubblewrap.ts';
import type { LaunchRequest, SandboxState } from './sandbox.ts';
import { startLaunch } from './start-launch.ts';

/** A workspace in which programs are started as agents start them. It is gone after the test. */
export interface SandboxBench {
  readonly workspace: string;
  /** A directory beside the workspace. */
  readonly outside: string;
  /** Starts a program and waits for its end. It is killed after 20 s, whatever it does. */
  readonly run: (program: string, args: readonly string[], request?: BenchRequest) => Promise<Ended>;
  /** Runs a script of sh and waits for its end, with stderr and stdout in one text. */
  readonly sh: (script: string, request?: BenchRequest) => Promise<Ended>;
  /** Starts a program and leaves it running until the test is over. */
  readonly start: (program: string, args: readonly string[], request?: BenchRequest) => Running;
}

export type BenchRequest = Partial<Omit<LaunchRequest, 'program' | 'args' | 'workspace'>>;

export interface Ended {
  /** Null if it was killed by a signal. */
  readonly status: number | null;
  /** The output, including stderr, in the order of its arrival. */
  readonly text: string;
}

export interface Running {
  readonly pid: number;
  readonly kill: () => void;
  readonly ended: Promise<Ended>;
}

const state: SandboxState = await openBubblewrap({ findProgram });

/** Why tests of the sandbox are skipped; undefined if they run. */
export const noSandbox: string | undefined = state.type === 'ready' ? undefined : state.reason;
export const gaps: readonly { readonly text: string }[] = state.type === 'ready' ? state.gaps : [];

/** Makes system calls by their numbers. It is part of every Debian. */
export const perl: string = (await findProgram('perl')) ?? '';
if (perl === '') console.warn('tests of system calls are left out: perl is not installed');

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0).toReversed()) close();
});

export function openSandboxBench(parent: string = tmpdir()): SandboxBench {
  const root = realpathSync(mkdtempSync(join(parent, 'fleetloom-sandbox-')));
  const [workspace, outside] = [join(root, 'workspace'), join(root, 'outside')];
  mkdirSync(workspace);
  mkdirSync(outside);
  closers.push(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const start: SandboxBench['start'] = (program, args, request) => startIn(workspace, program, args, request);
  return {
    workspace,
    outside,
    start,
    run: async (...given) => await start(...given).ended,
    sh: async (script, request) => await start('/bin/sh', ['-c', `exec 2>&1\n${script}`], request).ended,
  };
}

function startIn(workspace: string, program: string, args: readonly string[], request: BenchRequest = {}): Running {
  if (state.type !== 'ready') throw new Error(state.reason);
  const launch = state.sandbox.launch({ program, args, workspace, isWorkspaceWritable: true, ...request });
  let text = '';
  const add = (chunk: Buffer | string): void => {
    if (text.length < TEXT_CHARS_MAX) text += String(chunk);
  };
  const stdio = ['ignore', 'pipe', 'pipe', 'ignore'] as const;
  const child = startLaunch(launch, { cwd: workspace, stdio }, (error) => add(error.message));
  if (child?.pid === undefined) throw new Error(`it could not be started: ${text}`);
  const { pid } = child;
  child.stdout?.on('data', add);
  child.stderr?.on('data', add);
  const kill = (): void => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGKILL');
  };
  const timer = setTimeout(kill, RUN_MS);
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (status) => {
      clearTimeout(timer);
      resolve({ status, text: text.trimEnd() });
    });
  });
  closers.push(kill);
  return { pid, kill, ended };
}

const RUN_MS = 20_000;
const TEXT_CHARS_MAX = 100_000;

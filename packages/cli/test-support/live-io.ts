import type { Io } from '../src/base/io.ts';
import { runProgram } from '../src/program.ts';
import { FakeIo } from './fake-io.ts';
import type { FakeTerminal } from './fake-terminal.ts';

/** A fake process with real time, for tests against real servers. `clockMs` is the error of its clock. */
export function toLiveIo(fake: FakeIo, stderr: Io['stderr'] = fake.stderr, clockMs = 0): Io {
  return {
    stdin: fake.stdin,
    stdout: fake.stdout,
    stderr,
    env: fake.env,
    platform: fake.platform,
    cwd: fake.cwd,
    openPager: async (command, text) => (await fake.openPager?.(command, text)) ?? false,
    timers: {
      now: () => Date.now() + clockMs,
      after: (delayMs, handler) => {
        const timer = setTimeout(handler, delayMs);
        return () => clearTimeout(timer);
      },
    },
    onSignal: (signal, handler) => fake.onSignal(signal, handler),
    onExit: (handler) => fake.onExit(handler),
    onUncaught: () => fake.onUncaught(),
    exitNow: (code) => fake.exitNow(code),
    openKeyboard: (onKeys) => fake.openKeyboard(onKeys),
    suspend: () => fake.suspend(),
  };
}

export interface Called {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line to its end. */
export async function call(
  args: readonly string[],
  options: { env?: Record<string, string>; input?: string; clockMs?: number; cwd?: string } = {},
): Promise<Called> {
  const fake = new FakeIo({ input: options.input ?? '', env: options.env ?? {} });
  if (options.cwd !== undefined) fake.cwd = options.cwd;
  const code = await runProgram(toLiveIo(fake, fake.stderr, options.clockMs), args);
  return { code, stdout: fake.stdout.text, stderr: fake.stderr.text };
}

/** Starts the command line on a terminal. Tests read its output and type keys through the fake process. */
export function begin(
  args: readonly string[],
  options: { terminal?: FakeTerminal; env?: Record<string, string>; on?: 'stdout' | 'stderr'; cwd?: string } = {},
): { fake: FakeIo; ended: Promise<number> } {
  const isOnStderr = options.on === 'stderr' && options.terminal !== undefined;
  const fake = new FakeIo({
    ...(options.terminal === undefined || isOnStderr ? {} : { terminal: options.terminal }),
    input: '',
    env: options.env ?? {},
  });
  if (options.cwd !== undefined) fake.cwd = options.cwd;
  fake.hasKeyboard = options.terminal !== undefined;
  fake.stdin.isTTY = options.terminal !== undefined;
  const io = isOnStderr ? toLiveIo(fake, options.terminal) : toLiveIo(fake);
  return { fake, ended: runProgram(io, args) };
}

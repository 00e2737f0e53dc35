import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

/** The compiled program, as it is installed. */
export const COMPILED = join(PACKAGE, 'dist', 'main.js');

/**
 * The program that tests start. `npm test` bundles the compiled program into a few files, because a start from several hundred files takes
 * three times the CPU time; a test file that is run alone starts the compiled program.
 */
export const MAIN = process.env['FLEETLOOM_TEST_PROGRAM'] ?? COMPILED;

/** Builds the program, unless `npm test` has built it before. */
export function buildProgram(): void {
  if (process.env['FLEETLOOM_TEST_PROGRAM'] !== undefined) return;
  const tsc = join(PACKAGE, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');
  spawnSync(process.execPath, [tsc, '-b', PACKAGE]);
  if (!existsSync(COMPILED)) throw new Error('packages/cli/dist/main.js is missing: run npm run build');
}

/** The secret that the nodes of a test share. The same as in vitest.config.ts, because some nodes run in the process of vitest. */
export const NODE_SECRET = 'a secret that only tests have........';

/** The environment variables of a shell without variables of Fleetloom. */
export function cleanEnv(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  // Nodes that share a database need the same secret, which an operator would set.
  const secret = 'FLEETLOOM_DATABASE' in more ? { FLEETLOOM_SECRET: NODE_SECRET } : {};
  return { PATH, HOME, TMPDIR, LANG: 'C.UTF-8', NO_COLOR: '1', ...secret, ...more };
}

export interface Running {
  readonly child: ChildProcess;
  readonly out: { stdout: string; stderr: string };
  /** The exit code, or the signal that ended the process. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** Waits until the pattern was printed; fails if the process ends before. */
  saw(pattern: RegExp): Promise<void>;
}

export function startProgram(args: readonly string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: cleanEnv(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    // Outside of git repositories, because a run would work on the repository.
    cwd: tmpdir(),
  });
  const out = { stdout: '', stderr: '' };
  const news = new EventEmitter();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      out[name] += text;
      news.emit('news');
    });
  }
  let isOver = false;
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.on('close', (code, signal) => {
      isOver = true;
      news.emit('news');
      resolve(code ?? signal);
    }),
  );
  return {
    child,
    out,
    ended,
    saw: async (pattern) => {
      const isThere = () => pattern.test(out.stdout + out.stderr);
      // Waits for a notification instead of polling, because the awaited program needs the CPU.
      const signal = AbortSignal.timeout(PATIENCE_MS);
      while (!isThere()) {
        if (isOver) throw new Error(`it ended without ${String(pattern)}: ${out.stdout}${out.stderr}`);
        await once(news, 'news', { signal }).catch((cause: unknown) => {
          throw new Error(`it still has not said ${String(pattern)}: ${out.stdout}${out.stderr}`, { cause });
        });
      }
    },
  };
}

/** How long a program may take to print an expected text on a busy machine. */
const PATIENCE_MS = 60_000;

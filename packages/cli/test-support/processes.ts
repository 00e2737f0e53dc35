import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));

/** The program as it is installed. */
export const COMPILED = join(PACKAGE, 'dist', 'main.js');

/**
 * The program that tests start. `npm test` puts what it has compiled into a few files, because a start from several hundred takes
 * three times the CPU time; a test file that is run alone starts the compiled one.
 */
export const MAIN = process.env['FLEETLOOM_TEST_PROGRAM'] ?? COMPILED;

/** `npm test` has built everything before; alone, a file brings what it runs up to date itself. */
export function buildProgram(): void {
  if (process.env['FLEETLOOM_TEST_PROGRAM'] !== undefined) return;
  const tsc = join(PACKAGE, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');
  spawnSync(process.execPath, [tsc, '-b', PACKAGE]);
  if (!existsSync(COMPILED)) throw new Error('packages/cli/dist/main.js is missing: run npm run build');
}

/** What the nodes of a test share. The same as in vitest.config.ts, because some of them run in its process. */
export const NODE_SECRET = 'a secret that only tests have........';

/** The variables of a shell in which nothing of ours is set. */
export function cleanEnv(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  // The same for all that share a database, as their operator would set it.
  const secret = 'FLEETLOOM_DATABASE' in more ? { FLEETLOOM_SECRET: NODE_SECRET } : {};
  return { PATH, HOME, TMPDIR, LANG: 'C.UTF-8', NO_COLOR: '1', ...secret, ...more };
}

export interface Running {
  readonly child: ChildProcess;
  readonly out: { stdout: string; stderr: string };
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** Until this was printed; fails when the process ends before. */
  saw(pattern: RegExp): Promise<void>;
}

export function startProgram(args: readonly string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: cleanEnv(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    // Not in a git repository, on which a run would work.
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
      // Notified instead of polling: the awaited program needs the CPU.
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

/** How long a program may take to say something, on a machine that is busy with other things too. */
const PATIENCE_MS = 60_000;

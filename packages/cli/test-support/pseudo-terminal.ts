import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeTerminal } from './fake-terminal.ts';
import { cleanEnv, MAIN } from './processes.ts';

/**
 * Whether pseudo-terminals can be tested. Node has none; `script` of util-linux, which every Debian has, creates them. The `script` of other
 * systems takes different arguments.
 */
export const hasTerminals = String(spawnSync('script', ['--version']).stdout).includes('util-linux');
if (!hasTerminals) {
  // A skipped test must be visible.
  process.stderr.write('\nNOT TESTED: no pseudo-terminal here. Install util-linux, whose "script" makes them.\n\n');
}

/** The action to take once the text `after` was printed since the last step. */
export type Step =
  | { readonly after: string; readonly keys: string }
  | { readonly after: string; readonly signal: NodeJS.Signals }
  | { readonly after: string; readonly size: readonly [rows: number, columns: number] };

export interface Session {
  /** The whole output, unchanged. */
  readonly written: string;
  /** The final screen. */
  readonly terminal: FakeTerminal;
  readonly code: number;
  /** Whether line editing and echo are on again, as shells need them. */
  readonly isLineRestored: boolean;
}

/** Runs the program in a real pseudo-terminal of 80 by 24 until it ends. */
export async function inTerminal(
  args: readonly string[],
  steps: readonly Step[],
  env: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
): Promise<Session> {
  const place = mkdtempSync(join(tmpdir(), 'fleetloom-terminal-'));
  try {
    const written = await play(place, [process.execPath, ...nodeOptions, MAIN, ...args], steps, env);
    const terminal = new FakeTerminal(80, 24);
    terminal.write(written);
    const line = readFileSync(join(place, 'line'), 'utf8');
    return {
      written,
      terminal,
      code: Number(readFileSync(join(place, 'code'), 'utf8')),
      isLineRestored: / icanon/.test(line) && / echo /.test(line),
    };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Records the terminal, the process id, the exit code and the final terminal settings, and sets the size. The shell ignores Ctrl-C. */
const SHELL = `
trap : INT
tty > "$PLACE/tty"
stty sane rows 24 cols 80
sh -c 'echo $$ > "$PLACE/pid"; exec "$@"' program "$@"
echo $? > "$PLACE/code"
stty -a > "$PLACE/line"
`;

async function play(
  place: string,
  command: readonly string[],
  steps: readonly Step[],
  env: Record<string, string>,
): Promise<string> {
  const shell = `exec ${['sh', '-c', SHELL, 'terminal', ...command].map(quote).join(' ')}`;
  const child = spawn('script', ['-qec', shell, '/dev/null'], {
    env: cleanEnv({ TERM: 'xterm-256color', ...env, PLACE: place, SHELL: '/bin/sh' }),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  const left = [...steps];
  let [written, seen] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
    seen += text;
    const [step] = left;
    if (step === undefined || !seen.includes(step.after)) return;
    left.shift();
    seen = '';
    if ('keys' in step) child.stdin.write(step.keys);
    else if ('signal' in step) send(place, step.signal);
    else resize(place, step.size);
  });
  const tooLong = setTimeout(() => send(place, 'SIGKILL'), LONGEST_MS);
  await ended;
  clearTimeout(tooLong);
  const [missing] = left;
  if (missing === undefined) return written;
  throw new Error(`the terminal never showed ${JSON.stringify(missing.after)}:\n${written.slice(-3_000)}`);
}

const LONGEST_MS = 60_000;

function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function send(place: string, signal: NodeJS.Signals): void {
  if (!existsSync(join(place, 'pid'))) return;
  const pid = Number(readFileSync(join(place, 'pid'), 'utf8'));
  // A process that has not stopped yet would ignore SIGCONT.
  const isStopped = () => / \(.*\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (signal === 'SIGCONT') while (!isStopped());
  process.kill(pid, signal);
}

function resize(place: string, [rows, columns]: readonly [number, number]): void {
  const tty = readFileSync(join(place, 'tty'), 'utf8').trim();
  execFileSync('stty', ['-F', tty, 'rows', String(rows), 'cols', String(columns)]);
}

import { spawn, spawnSync } from 'node:child_process';
import { cleanEnv, MAIN } from './processes.ts';
import { FakeTerminal } from './fake-terminal.ts';

/** Python has pseudo-terminals and Node has none. Undefined where there is no Python. */
export const python = spawnSync('python3', ['-c', 'import pty, termios']).status === 0 ? 'python3' : undefined;

/** What to do when this text has come since the last step. */
export type Step =
  | { readonly after: string; readonly keys: string }
  | { readonly after: string; readonly signal: string }
  | { readonly after: string; readonly size: readonly [rows: number, columns: number] };

export interface Session {
  /** All that was written, as it was. */
  readonly written: string;
  /** What somebody would have seen in the end. */
  readonly terminal: FakeTerminal;
  readonly code: number;
  /** Whether the line is edited and echoed again, as shells want it. */
  readonly isLineRestored: boolean;
}

/** Runs the program in a real pseudo-terminal of 80 by 24 until it ends. */
export async function inTerminal(
  args: readonly string[],
  steps: readonly Step[],
  env: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
): Promise<Session> {
  const child = spawn(
    python ?? '',
    ['-c', DRIVER, JSON.stringify(steps), process.execPath, ...nodeOptions, MAIN, ...args],
    {
      env: cleanEnv({ TERM: 'xterm-256color', ...env }),
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
  const all = Buffer.concat(chunks).toString('utf8');
  const [, written = '', code, canonical, echo, missing] = /^(.*)END (-?\d+) (\d) (\d) (.*)$/s.exec(all) ?? [];
  if (missing !== '')
    throw new Error(`the terminal never showed ${JSON.stringify(missing)}:\n${written.slice(-3_000)}`);
  const terminal = new FakeTerminal(80, 24);
  terminal.write(written);
  return { written, terminal, code: Number(code), isLineRestored: canonical === '1' && echo === '1' };
}

const DRIVER = `
import fcntl, json, os, pty, select, signal, struct, sys, termios, time
steps = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0:
    time.sleep(0.1)  # until the terminal has its size
    os.execvp(sys.argv[2], sys.argv[2:])
def resize(rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
resize(24, 80)
seen, started = b'', time.time()
while True:
    if steps and steps[0]['after'].encode() in seen:
        step, seen = steps.pop(0), b''
        if 'keys' in step: os.write(fd, step['keys'].encode())
        elif 'signal' in step:
            if step['signal'] == 'SIGCONT': os.waitpid(pid, os.WUNTRACED)  # what has not stopped yet cannot go on
            os.kill(pid, getattr(signal, step['signal']))
        else: resize(*step['size'])
    if time.time() - started > 25:
        os.kill(pid, signal.SIGKILL)
    if select.select([fd], [], [], 0.05)[0]:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
        os.write(1, data)
local = termios.tcgetattr(fd)[3]
_, status = os.waitpid(pid, 0)
rest = steps[0]['after'] if steps else ''
os.write(1, ('END %d %d %d %s' % (os.waitstatus_to_exitcode(status), bool(local & termios.ICANON), bool(local & termios.ECHO), rest)).encode())
`;

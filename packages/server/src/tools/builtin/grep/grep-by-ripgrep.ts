import type { ChildProcess } from 'node:child_process';
import { startProgram } from '../../start-program.ts';
import { Interrupted, ToolFailure } from '../../tool-failure.ts';
import type { GrepFound, GrepRequest } from './grep-request.ts';
import { SKIPPED } from '../../workspace/walk.ts';

/**
 * Searches with ripgrep, with options that make it search the same files as the built-in search, in the same order. Undefined if ripgrep
 * does not run, which must not look like an empty result.
 */
export async function grepByRipgrep(ripgrep: string, request: GrepRequest): Promise<GrepFound | undefined> {
  const { directory, file, pattern, workspace, signal, limits } = request;
  const target = file === undefined ? directory.path : directory.pathOf(file);
  const bounds = `--max-depth ${limits.walkDepthMax + 1} --max-columns ${limits.grepLineCharsMax} --max-columns-preview`;
  const skipped = [...SKIPPED, '.fleetloom-*'].flatMap((name) => ['--glob', `!${name}`]);
  // Without a path ripgrep searches its working directory, and prints paths without `./`.
  const paths = target === '' ? [] : [target];
  const args = [...FORM.split(' '), ...bounds.split(' '), ...skipped, '--regexp', pattern, '--', ...paths];
  const child = await start(ripgrep, args, workspace);
  if (child === undefined) return undefined;
  const run = await runToEnd(child, {
    signal,
    bytesMax: limits.grepOutputBytesMax,
    timeoutMs: limits.grepTimeoutMs,
  });
  if (signal.aborted) throw new Interrupted();
  if (run.status === 'killed') return undefined;
  if (run.output === '' && run.complaint !== '') {
    if (run.status !== FAILED) return undefined;
    throw new ToolFailure(`the pattern cannot be used: ${run.complaint.trim()}`);
  }
  return { lines: run.output, remarks: run.remarks };
}

const FORM =
  '--no-config --color never --no-heading --with-filename --line-number --sort path --hidden --no-ignore --no-follow --no-messages';

/** Exit code of ripgrep for an invalid pattern. */
const FAILED = 2;

async function start(ripgrep: string, args: readonly string[], cwd: string): Promise<ChildProcess | undefined> {
  try {
    return await startProgram(ripgrep, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch {
    // ripgrep cannot be started: the built-in search is used.
    return undefined;
  }
}

interface Run {
  /** The exit code; `killed`: by another process; `stopped`: by this process at a limit of output or time. */
  readonly status: number | 'killed' | 'stopped';
  readonly output: string;
  readonly complaint: string;
  readonly remarks: readonly string[];
}

interface RunBounds {
  readonly signal: AbortSignal;
  readonly bytesMax: number;
  readonly timeoutMs: number;
}

async function runToEnd(child: ChildProcess, { signal, bytesMax, timeoutMs }: RunBounds): Promise<Run> {
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    child.kill('SIGKILL');
    // Does not wait for other processes that have these pipes open.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, timeoutMs);
  const output = collect(child.stdout, bytesMax, stop);
  const complaint = collect(child.stderr, COMPLAINT_BYTES, () => {});
  try {
    const code = await new Promise<number | null>((resolve) => {
      child.on('close', (code) => resolve(code));
    });
    const status = isStopped ? 'stopped' : (code ?? 'killed');
    const remarks = [
      ...(output.isFull() ? [`(cut after ${bytesMax} bytes: use a narrower pattern or path)`] : []),
      ...(isLate ? [`(stopped after ${timeoutMs} ms: give a path)`] : []),
    ];
    return { status, output: output.text(), complaint: complaint.text(), remarks };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

const COMPLAINT_BYTES = 2_000;

/** Collects the beginning of a stream, only whole lines if it is longer. */
function collect(
  stream: NodeJS.ReadableStream | null,
  bytesMax: number,
  onFull: () => void,
): { text: () => string; isFull: () => boolean } {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on('data', (chunk: Buffer) => {
    if (bytes > bytesMax) return;
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) onFull();
  });
  return {
    isFull: () => bytes > bytesMax,
    text: () => {
      const all = Buffer.concat(chunks);
      const end = bytes > bytesMax ? all.lastIndexOf('\n', bytesMax) : all.length;
      return new TextDecoder().decode(all.subarray(0, Math.max(0, end))).replace(/\n$/, '');
    },
  };
}

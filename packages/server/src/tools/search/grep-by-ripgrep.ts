import { spawn } from 'node:child_process';
import type { Directory } from '../files/directory.ts';
import { DATA_FD, type Sandbox } from '../sandbox/sandbox.ts';
import { Interrupted, ToolFailure } from '../tool-failure.ts';
import type { ToolLimits } from '../tool-limits.ts';
import type { GrepFound } from './grep-tool.ts';
import { SKIPPED } from './walk.ts';

export interface RipgrepRequest {
  readonly directory: Directory;
  /** Searches this one only. */
  readonly file: string | undefined;
  readonly pattern: string;
  readonly workspace: string;
  readonly signal: AbortSignal;
  readonly limits: ToolLimits;
  readonly ripgrep: string;
  readonly sandbox: Sandbox;
}

/**
 * Searches with ripgrep, told to look at what our own search looks at, in the same order. Gives nothing where ripgrep
 * does not run, which must not look like finding nothing.
 */
export async function grepByRipgrep(request: RipgrepRequest): Promise<GrepFound | undefined> {
  const { directory, file, pattern, workspace, signal, limits, ripgrep, sandbox } = request;
  const target = file === undefined ? directory.path : directory.pathOf(file);
  const bounds = `--max-depth ${limits.walkDepthMax + 1} --max-columns ${limits.grepLineCharsMax} --max-columns-preview`;
  const skipped = [...SKIPPED, '.fleetloom-*'].flatMap((name) => ['--glob', `!${name}`]);
  // Without a path it searches where it is, and gives paths without `./`.
  const paths = target === '' ? [] : [target];
  const args = [...FORM.split(' '), ...bounds.split(' '), ...skipped, '--regexp', pattern, '--', ...paths];
  const run = await runToEnd(sandbox.launch({ program: ripgrep, args, workspace, isWorkspaceWritable: false }), {
    workspace,
    signal,
    bytesMax: limits.grepOutputBytesMax,
    timeoutMs: limits.grepTimeoutMs,
  });
  if (signal.aborted) throw new Interrupted();
  if (run.output === '' && run.complaint !== '') {
    if (run.status !== FAILED) return undefined;
    throw new ToolFailure(`the pattern cannot be used: ${run.complaint.trim()}`);
  }
  return { lines: run.output, remarks: run.remarks };
}

const FORM =
  '--no-config --color never --no-heading --with-filename --line-number --sort path --hidden --no-ignore --no-follow --no-messages';

/** What ripgrep gives when the pattern is none. */
const FAILED = 2;

interface Run {
  status: number | null;
  output: string;
  complaint: string;
  remarks: string[];
}

async function runToEnd(
  launch: ReturnType<Sandbox['launch']>,
  {
    workspace,
    signal,
    bytesMax,
    timeoutMs,
  }: { workspace: string; signal: AbortSignal; bytesMax: number; timeoutMs: number },
): Promise<Run> {
  const data = launch.data.map(() => 'pipe' as const);
  const child = spawn(launch.file, launch.args, {
    cwd: workspace,
    env: launch.env,
    stdio: ['ignore', 'pipe', 'pipe', 'ignore', ...data],
  });
  for (const [at, text] of launch.data.entries()) {
    const stream = child.stdio[DATA_FD + at];
    // Opened for writing, three lines above; only its type does not say so.
    if (stream !== null && stream !== undefined && 'end' in stream) stream.on('error', () => {}).end(text);
  }
  const stop = (): void => {
    child.kill('SIGKILL');
    // Whoever else holds them is not waited for.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  signal.addEventListener('abort', stop, { once: true });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, timeoutMs);
  const output = collect(child.stdout, bytesMax, stop);
  const complaint = collect(child.stderr, COMPLAINT_BYTES, () => {});
  try {
    const status = await new Promise<number | null>((resolve) => {
      child.on('error', (error) => {
        complaint.add(error.message);
        resolve(null);
      });
      child.on('close', (code) => resolve(code));
    });
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

/** The beginning of a stream, in whole lines when it is longer. */
function collect(
  stream: NodeJS.ReadableStream | null,
  bytesMax: number,
  onFull: () => void,
): { text: () => string; isFull: () => boolean; add: (text: string) => void } {
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
    add: (text) => void chunks.push(Buffer.from(text)),
    text: () => {
      const all = Buffer.concat(chunks);
      const end = bytes > bytesMax ? all.lastIndexOf('\n', bytesMax) : all.length;
      return new TextDecoder().decode(all.subarray(0, Math.max(0, end))).replace(/\n$/, '');
    },
  };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { claudeCodeEnvironment, temporaryHome } from './claude-code.ts';

export interface RunOptions {
  readonly path: string;
  readonly prompt: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly home?: string;
  readonly args?: readonly string[];
  /** Keeps the program running after a result, for `say`. */
  readonly isKept?: boolean;
}

/** A line of the program, as far as tests look at it. */
export interface ProgramLine {
  readonly type: string;
  readonly subtype?: string;
  readonly session_id?: string;
  readonly parent_tool_use_id?: string | null;
  readonly message?: { readonly id?: string; readonly content?: string | readonly Record<string, unknown>[] };
  readonly [field: string]: unknown;
}

export interface ProgramRun {
  readonly lines: readonly ProgramLine[];
  readonly child: ChildProcess;
  /** Its HOME with its sessions, and below its working directory. */
  readonly home: string;
  readonly folder: string;
  /** Resolves when the program has ended. */
  readonly ended: Promise<void>;
  /** Sends a further prompt. */
  readonly say: (prompt: string) => void;
}

/** Starts the real program on one prompt; it leaves after its first result. Killed after the test if it is still there. */
export async function startClaudeCode(options: RunOptions): Promise<ProgramRun> {
  const home = options.home ?? (await temporaryHome());
  const folder = join(home, 'work');
  await mkdir(folder, { recursive: true });
  const flags = ['-p', '--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'];
  const more = ['--include-partial-messages', '--permission-mode', 'bypassPermissions', ...(options.args ?? [])];
  const child = spawn(options.path, [...flags, ...more], {
    cwd: folder,
    env: claudeCodeEnvironment(home, options.environment),
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  onTestFinished(() => kill(child));
  child.stdin.on('error', () => undefined);
  const lines: ProgramLine[] = [];
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as ProgramLine;
    lines.push(line);
    if (line.type === 'result' && options.isKept !== true) child.stdin.end();
  });
  const ended = once(child, 'close').then(() => undefined);
  const initialize = { subtype: 'initialize', forwardSubagentText: true };
  child.stdin.write(`${JSON.stringify({ type: 'control_request', request_id: 'start', request: initialize })}\n`);
  const say = (prompt: string) => {
    child.stdin.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content: prompt } })}\n`);
  };
  say(options.prompt);
  return { lines, child, home, folder, ended, say };
}

/** Kills the process group. */
function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

/** A script for the scripted model, to be put into a prompt. */
export function toScript(script: object): string {
  return `<script>${JSON.stringify(script).replaceAll('<', '\\u003c')}</script>`;
}

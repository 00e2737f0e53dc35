import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty directory to run commands in. */
export interface CommandFolder {
  readonly path: string;
  /** The arguments of Node that run a task with a model that answers at once. */
  command(task: string): string[];
  remove(): void;
}

/** `main`: the program, by default the one that `npx fleetloom` starts. */
export function createFolder(main = join(process.cwd(), '.cache', 'program', 'main.mjs')): CommandFolder {
  const path = mkdtempSync(join(tmpdir(), 'fleetloom-bench-'));
  return {
    path,
    command: (task) => [main, 'run', '--model', 'scripted/echo', '--no-workspace', task],
    remove: () => rmSync(path, { recursive: true }),
  };
}

/** Runs Node to its end and returns what it printed. Rejects if it failed. */
export async function runNode(cwd: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, HOME: cwd };
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${String(code)}: ${stderr}`);
  return stdout;
}

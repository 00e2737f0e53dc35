import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { setUpCodex } from './codex.ts';
import { repositoryRoot } from './root.ts';

/** A line of `codex exec --json`, as far as tests look at it. */
export interface CodexLine {
  readonly type: string;
  readonly item?: CodexItem;
}

/** An item that Codex has printed. */
export interface CodexItem {
  readonly type: string;
  readonly text?: string;
  readonly aggregated_output?: string;
}

/** A run of `codex exec`. */
export interface CodexRun {
  readonly items: readonly CodexItem[];
  readonly last: CodexLine | undefined;
  /** `CODEX_HOME`, with the session. */
  readonly home: string;
}

/** Runs one prompt with this script to its end, against `fleetloom model`. */
export async function runCodex(path: string, script: object, model = 'gpt-5.5'): Promise<CodexRun> {
  const { folder, home, env } = await setUpCodex(await startModel(), model);
  await writeFile(join(folder, 'AGENTS.md'), 'Be brief.');
  const nested = JSON.stringify(script).replaceAll('<', '\\u003c');
  const prompt = `Look around. <script>${nested}</script>`;
  const flags = ['exec', '--json', '--skip-git-repo-check', '--sandbox', 'danger-full-access'];
  const stdout = await new Promise<string>((resolve) => {
    // A failed turn is an exit code, and the lines have the reason.
    const child = execFile(path, [...flags, prompt], { cwd: folder, env }, (_, text) => resolve(text));
    child.stdin?.end();
    onTestFinished(() => void child.kill('SIGKILL'));
  });
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as CodexLine);
  const items = lines.flatMap(({ type, item }) => (type === 'item.completed' && item !== undefined ? [item] : []));
  return { items, last: lines.at(-1), home };
}

/** Starts `fleetloom model` as a user would, and returns its URL. */
async function startModel(): Promise<string> {
  const main = join(repositoryRoot, 'packages/cli/dist/main.js');
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn(process.execPath, [main, 'model', '--port', '0', '--json'], { stdio: [...stdio] });
  onTestFinished(() => stop(child));
  if (child.stdout === null) throw new Error('the model has no output');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return (JSON.parse(line) as { url: string }).url;
}

async function stop(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  await closed;
}

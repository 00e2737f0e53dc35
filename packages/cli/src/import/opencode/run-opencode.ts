import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '../../base/limits.ts';
import { UsageError } from '../../base/usage-error.ts';

/** Where opencode is, and what it is started with. */
export interface OpencodePlace {
  /** The path of the program, or its name on PATH. */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs a command of opencode and returns the JSON that it prints. Its output is a file, because opencode ends before a long text is
 * in a pipe. Undefined if opencode refuses, for example because the session is unknown.
 */
export async function runOpencode(
  { program, env }: OpencodePlace,
  directory: string,
  args: readonly string[],
): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-opencode-'));
  const path = join(folder, 'output.json');
  try {
    const output = await open(path, 'w', 0o600);
    try {
      const child = spawn(program, args, {
        cwd: directory,
        env: { ...env, OPENCODE_DISABLE_AUTOUPDATE: '1' },
        stdio: ['ignore', output.fd, 'ignore'],
        timeout: limits.exportMs,
        killSignal: 'SIGKILL',
      });
      const [code] = (await once(child, 'close')) as [number | null];
      if (code !== 0) return undefined;
    } finally {
      await output.close();
    }
    if ((await stat(path)).size > limits.exportBytesMax) return undefined;
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `opencode cannot be run: ${reason}`,
      'Pass its path with --opencode, or files that `opencode export` has written.',
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

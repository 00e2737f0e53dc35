import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '../../base/limits.ts';
import { UsageError } from '../../base/usage-error.ts';

/** The opencode program, and its environment. */
export interface OpencodePlace {
  /** The path of the program, or its name on PATH. */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Runs a command of opencode and returns the JSON that it prints. The output is written to a file, because opencode exits before a long text
 * is written to a pipe. Undefined if opencode fails, for example because the session is unknown.
 */
export async function runOpencode(
  { program, env }: OpencodePlace,
  directory: string,
  args: readonly string[],
): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-opencode-'));
  const path = join(folder, 'output.json');
  try {
    const code = await execute([path, program, ...args], directory, env);
    if (code === NOT_EXECUTABLE || code === NOT_FOUND) {
      throw new UsageError(
        `opencode cannot be run: there is no program "${program}".`,
        'Pass its path with --opencode, or files that `opencode export` has written.',
      );
    }
    if (code !== 0 || (await stat(path)).size > limits.exportBytesMax) return undefined;
    return parse(await readFile(path, 'utf8'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a command. The first word is the file for the output. Returns the exit code, null if a signal ended the command. */
async function execute(words: readonly string[], cwd: string, env: OpencodePlace['env']): Promise<unknown> {
  const options = { cwd, env: { ...env, OPENCODE_DISABLE_AUTOUPDATE: '1' }, timeout: limits.exportMs };
  return await new Promise((resolve) => {
    // The callback also receives the error if the shell cannot be started.
    execFile('/bin/sh', ['-c', 'umask 077; exec "$@" > "$0"', ...words], options, (error) =>
      resolve(error === null ? 0 : error.code),
    );
  });
}

/** Exit codes of the shell if it cannot run the program. */
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The output is not JSON.
    return undefined;
  }
}

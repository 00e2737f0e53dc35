import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, onTestFinished } from 'vitest';
import { repositoryRoot } from './root.ts';

/** The real claude program for tests, or the reason why it is missing. */
export type ClaudeCode =
  | { readonly type: 'found'; readonly version: string; readonly path: string }
  | { readonly type: 'missing'; readonly version: string; readonly reason: string };

/** `npm test` uses the newer one; `npm run test:claude-code` sets the variable to each. */
export const claudeCodeVersion = process.env['FLEETLOOM_CLAUDE_CODE_VERSION'] ?? '2.1.325';

/** Where the program is; it is installed into .cache if it is not there. Several test workers may ask at once. */
export function findClaudeCode(version: string = claudeCodeVersion): Promise<ClaudeCode> {
  const known = found.get(version) ?? ask(version);
  found.set(version, known);
  return known;
}

/**
 * Tests that need the real program. If it cannot be installed they are skipped with a message, except under
 * `npm run test:claude-code`, where they fail.
 *
 * @example
 * describeWithClaudeCode('the engine', ({ path, version }) => {
 *   it('[J1] …', …);
 * });
 */
export async function describeWithClaudeCode(
  what: string,
  body: (program: { readonly version: string; readonly path: string }) => void,
): Promise<void> {
  const program = await findClaudeCode();
  if (program.type === 'found') return void describe(`${what} (claude ${program.version})`, () => body(program));
  if (process.env['FLEETLOOM_CLAUDE_CODE_REQUIRED'] === '1') throw new Error(program.reason);
  process.stderr.write(
    `\nclaude-code ${program.version} was not installed: ${what} is not tested. ${program.reason}\n\n`,
  );
  describe.skip(what, () => body({ version: program.version, path: '' }));
}

/**
 * What the program runs with in tests: a home of its own, nothing of ours, no telemetry and no updates. `home` is where
 * it keeps sessions and settings.
 */
export function claudeCodeEnvironment(home: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    // Tests run as root in containers, where the program refuses to skip permissions without this.
    IS_SANDBOX: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_BUG_COMMAND: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...more,
  };
}

/** A folder that is gone after the test. */
export async function temporaryHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'fleetloom-claude-'));
  // The program may still be writing when a test ends.
  onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  return home;
}

const found = new Map<string, Promise<ClaudeCode>>();

/** Runs the script, which is not TypeScript. */
function ask(version: string): Promise<ClaudeCode> {
  const script = join(repositoryRoot, 'scripts', 'programs.mjs');
  return new Promise((resolve) => {
    execFile(process.execPath, [script, 'claude-code', version], (error, stdout, stderr) => {
      const answer = readAnswer(stdout);
      if (answer?.path !== undefined) return resolve({ type: 'found', version, path: answer.path });
      resolve({ type: 'missing', version, reason: answer?.reason ?? `${error?.message ?? ''} ${stderr}` });
    });
  });
}

function readAnswer(stdout: string): { path?: string; reason?: string } | undefined {
  try {
    // The cast: the test of the script checks its output.
    return JSON.parse(stdout) as { path?: string; reason?: string };
  } catch {
    return undefined;
  }
}

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../support/root.ts';

/** The last commit before the tables of the store were changed for summaries, the audit log and owners of documents. */
export const OLD_COMMIT = '38d3672c800ed4a7a15f31b11e8ff271480e92cd';

/** Builds that version from the history of this repository, once. Needs the npm registry or its cache. */
export function buildOldProgram(): string {
  const folder = join(repositoryRoot, '.cache', `version-${OLD_COMMIT.slice(0, 7)}`);
  const main = join(folder, 'packages', 'cli', 'dist', 'main.js');
  if (existsSync(main)) return main;
  const unfinished = `${folder}-unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const files = execFileSync('git', ['archive', OLD_COMMIT], { cwd: repositoryRoot, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x'], { cwd: unfinished, input: files });
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, { cwd: unfinished, stdio: ['ignore', 'ignore', 'inherit'] });
  run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund']);
  run(process.execPath, ['node_modules/typescript/bin/tsc', '-b', 'packages/cli']);
  renameSync(unfinished, folder);
  return main;
}

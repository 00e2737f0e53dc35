import { existsSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runGit } from '../base/run-git.ts';
import { demoDirectory } from './demo-files.ts';

/**
 * The directory of the demo's sample project: beside the data directory, because a server does not let agents work on its
 * own data.
 */
export function toDemoDirectory(dataDirectory: string): string {
  return `${dataDirectory}-demo`;
}

/** The sample project as a git repository, created at the first demo. Undefined if git is not installed. */
export async function prepareDemoProject(dataDirectory: string): Promise<string | undefined> {
  const directory = toDemoDirectory(dataDirectory);
  const project = join(directory, 'ferry');
  if (existsSync(project)) return project;
  const draft = join(directory, 'ferry.new');
  await rm(draft, { recursive: true, force: true });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await cp(join(demoDirectory, 'project'), draft, { recursive: true });
  const author = ['-c', 'user.name=Fleetloom demo', '-c', 'user.email=demo@fleetloom.invalid'];
  const steps = [
    ['init', '--quiet', '--initial-branch=main'],
    ['add', '--all'],
    [...author, 'commit', '--quiet', '--message=ferry 0.3.0'],
  ];
  for (const step of steps) {
    if ((await runGit(draft, step)) !== undefined) continue;
    // Without git the agents get a copy of the files.
    await rm(draft, { recursive: true, force: true });
    return undefined;
  }
  await rename(draft, project);
  return project;
}

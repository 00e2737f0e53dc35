import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toLeadScript } from './lead-script.ts';

/** The demo as it is shipped: definitions of agents, their scripts, and the project that they work on. */
export const demoDirectory = fileURLToPath(new URL('../../demo/fleet/', import.meta.url));

/** Puts the scripts where the server finds them, and where people can read and change them. Gives the directory. */
export async function writeDemoScripts(dataDirectory: string, agents: number): Promise<string> {
  const directory = join(dataDirectory, 'demo-scripts');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // What somebody changed stays changed.
  await cp(join(demoDirectory, 'scripts'), directory, { recursive: true, force: false });
  await writeFile(join(directory, `${leadScriptName(agents)}.json`), JSON.stringify(toLeadScript(agents), null, 2));
  return directory;
}

/** One for each size, so that a session of yesterday finds the script that it began with. */
export function leadScriptName(agents: number): string {
  return `demo-lead-${agents}`;
}

/** Paths of the project's files, from its root on and with slashes. */
export async function listProject(): Promise<readonly string[]> {
  const root = join(demoDirectory, 'project');
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}

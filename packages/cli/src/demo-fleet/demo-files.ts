import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toLeadScript } from './lead-script.ts';

/** The demo as shipped: agent definitions, their scripts, and the sample project. */
export const demoDirectory = fileURLToPath(new URL('../../demo/fleet/', import.meta.url));

/** Copies the scripts into the data directory, where users can edit them. Returns the directory. */
export async function writeDemoScripts(dataDirectory: string, agents: number): Promise<string> {
  const directory = join(dataDirectory, 'demo-scripts');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // Scripts that were edited are not overwritten.
  await cp(join(demoDirectory, 'scripts'), directory, { recursive: true, force: false });
  await writeFile(join(directory, `${leadScriptName(agents)}.json`), JSON.stringify(toLeadScript(agents), null, 2));
  return directory;
}

/** One script per size, so that an older session still finds its script. */
export function leadScriptName(agents: number): string {
  return `demo-lead-${agents}`;
}

/** Paths of the project files, relative to its root, with slashes. */
export async function listProject(): Promise<readonly string[]> {
  const root = join(demoDirectory, 'project');
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}

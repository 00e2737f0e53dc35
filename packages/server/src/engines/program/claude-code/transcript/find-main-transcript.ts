import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { programLimits } from '../../limits.ts';
import { openInside } from './open-inside.ts';

/**
 * The transcript of the main agent: `<projects>/<project>/<conversation>.jsonl`, and how many bytes it has. Agents can write to
 * these directories, so only a limited number of projects is searched. Undefined if no transcript is found.
 */
export async function findMainTranscript(
  projects: string,
  conversation: string,
): Promise<{ readonly path: string; readonly size: number } | undefined> {
  if (!/^[\w-]{1,128}$/.test(conversation)) return undefined;
  const directory = await opendir(projects).catch(() => undefined);
  if (directory === undefined) return undefined;
  let entriesLeft = programLimits.transcriptEntriesMax;
  // The iterator closes the directory, even if the loop ends early.
  for await (const project of directory) {
    if (entriesLeft-- <= 0) return undefined;
    if (!project.isDirectory()) continue;
    const path = join(projects, project.name, `${conversation}.jsonl`);
    const file = await openInside(projects, path);
    if (file === undefined) continue;
    try {
      return { path, size: (await file.stat()).size };
    } finally {
      await file.close();
    }
  }
  return undefined;
}

import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { programLimits } from '../../limits.ts';

/**
 * The files in which Codex keeps a thread: `sessions/<year>/<month>/<day>/rollout-<time>-<thread>.jsonl`, by their paths in the home of
 * Codex. Agents can write to these directories: links are not followed, and the number of names that are read is limited.
 */
export async function findRollouts(home: string, threadId: string): Promise<readonly string[]> {
  if (!/^[\w-]+$/.test(threadId)) return [];
  const found: string[] = [];
  let names = 0;
  const search = async (path: string, depth: number): Promise<void> => {
    if (!(await lstat(join(home, path)).catch(() => undefined))?.isDirectory()) return;
    for (const name of await readdir(join(home, path))) {
      if (++names > programLimits.transcriptEntriesMax) return;
      const inside = join(path, name);
      if (depth < DAY_DEPTH) await search(inside, depth + 1);
      else if (name.endsWith(`-${threadId}.jsonl`)) found.push(inside);
    }
  };
  await search('sessions', 0);
  return found;
}

const DAY_DEPTH = 3;

import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import type { Directory } from '../files/directory.ts';
import type { WorkspaceFiles } from '../files/workspace-files.ts';
import type { Tool } from '../tool.ts';
import { ToolFailure } from '../tool-failure.ts';
import type { ToolLimits } from '../tool-limits.ts';
import { parseGlob } from './glob-pattern.ts';
import { walk } from './walk.ts';

export interface GlobToolOptions {
  readonly files: WorkspaceFiles;
  readonly limits: ToolLimits;
}

export function createGlobTool({ files, limits }: GlobToolOptions): Tool {
  const { globResultsMax, globAlternativesMax: alternativesMax, globPatternCharsMax } = limits;
  return defineTool({
    name: 'glob',
    description:
      'Finds files by their names, the newest first, with paths from the workspace on. Knows *, **, ?, [abc] and {a,b}. ' +
      `Gives at most ${globResultsMax}, and does not look into .git and node_modules.`,
    input: z.object({
      pattern: z.string().min(1).max(globPatternCharsMax).describe('Such as **/*.ts or src/*.{js,json}'),
      path: z.string().min(1).nullish().describe('The directory to look in; the workspace if not given'),
    }),
    run: async ({ pattern, path }, { openWorkspace, signal }) => {
      if (isAbsolute(pattern))
        throw new ToolFailure('the pattern is absolute: give the directory as path, and the rest as pattern');
      if (pattern.split(/[/{},]/).includes('..'))
        throw new ToolFailure('a pattern cannot have .. in it: give the directory as path');
      const fits = parseGlob(pattern, { alternativesMax });
      const newest = new Newest(globResultsMax);
      const end = await files.search(await openWorkspace(), path ?? '.', async ({ directory, file }) => {
        if (file !== undefined) throw new ToolFailure(`${path} is a file: give a directory as path`);
        const { walkEntriesMax: entriesMax, walkDepthMax: depthMax } = limits;
        const begin = directory.path === '' ? 0 : directory.path.length + 1;
        return await walk(directory, {
          entriesMax,
          depthMax,
          signal,
          onFile: async (holder, name) => {
            if (fits(holder.pathOf(name).slice(begin))) await newest.add(holder, name);
            return 'continue';
          },
        });
      });
      const remarks = [
        ...(newest.leftOut > 0 ? [`(${newest.leftOut} older files are left out: use a narrower pattern)`] : []),
        ...(end === 'whole' ? [] : ['(there is too much to look at everything: give a path)']),
      ];
      const paths = newest.take();
      return [...(paths.length === 0 ? ['No files found'] : paths), ...remarks].join('\n');
    },
  });
}

/** Files by age, of which only the newest are given. */
class Newest {
  readonly #max: number;
  #found: { path: string; mtimeMs: number }[] = [];
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get leftOut(): number {
    return Math.max(0, this.#count - this.#max);
  }

  async add(directory: Directory, name: string): Promise<void> {
    const stats = await directory.stat(name);
    if (stats === undefined) return;
    this.#count++;
    this.#found.push({ path: directory.pathOf(name), mtimeMs: stats.mtimeMs });
    // Now and then, so that a hundred thousand are not all kept and sorting is rare.
    if (this.#found.length >= this.#max * 2 + 1_000) this.#found = this.#sorted();
  }

  take(): string[] {
    return this.#sorted().map(({ path }) => path);
  }

  #sorted(): { path: string; mtimeMs: number }[] {
    const byAge = this.#found.sort((one, other) => other.mtimeMs - one.mtimeMs || (one.path < other.path ? -1 : 1));
    return byAge.slice(0, this.#max);
  }
}

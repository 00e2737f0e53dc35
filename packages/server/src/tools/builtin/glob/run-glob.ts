import { isAbsolute } from 'node:path';
import type { Directory } from '../../workspace/directory.ts';
import type { HostContext } from '../host-context.ts';
import { ToolFailure } from '../../tool-failure.ts';
import type { ToolLimits } from '../../tool-limits.ts';
import { type GlobPattern, parseGlob } from './glob-pattern.ts';
import { SearchTime } from '../search/search-time.ts';
import { walk } from '../../workspace/walk.ts';

/** The checked input of `glob`. */
export interface GlobInput {
  readonly pattern: string;
  readonly path?: string | null | undefined;
}

/** Finds files by their names, the newest first. */
export async function runGlob(input: GlobInput, { files, workspace, limits, signal }: HostContext): Promise<string> {
  const { pattern, path } = input;
  checkPattern(pattern);
  const fits = parseGlob(pattern, limits);
  const newest = new Newest(limits);
  const time = new SearchTime(limits.globTimeoutMs, signal);
  const end = await files.search(workspace, path ?? '.', async ({ directory, file }) => {
    if (file !== undefined) throw new ToolFailure(`${path} is a file: give a directory as path`);
    return await walk(directory, { ...toBounds(limits), signal, onFile: createVisit(directory, fits, newest, time) });
  });
  const { paths, remarks } = newest.take();
  return [
    ...(paths.length === 0 ? ['No files found'] : paths),
    ...remarks,
    ...(end === 'stopped' ? [`(stopped after ${limits.globTimeoutMs} ms: give a path, or a simpler pattern)`] : []),
    ...(end === 'too_many' ? ['(there is too much to look at everything: give a path)'] : []),
  ].join('\n');
}

function checkPattern(pattern: string): void {
  if (isAbsolute(pattern)) {
    throw new ToolFailure('the pattern is absolute: give the directory as path, and the rest as pattern');
  }
  if (pattern.split(/[/{},]/).includes('..')) {
    throw new ToolFailure('a pattern cannot have .. in it: give the directory as path');
  }
}

function toBounds({ walkEntriesMax, walkDepthMax }: ToolLimits): { entriesMax: number; depthMax: number } {
  return { entriesMax: walkEntriesMax, depthMax: walkDepthMax };
}

type Visit = (holder: Directory, name: string) => Promise<'continue' | 'stop'>;

function createVisit(root: Directory, fits: GlobPattern, newest: Newest, time: SearchTime): Visit {
  const begin = root.path === '' ? 0 : root.path.length + 1;
  return async (holder, name) => {
    if (fits(holder.pathOf(name).slice(begin))) await newest.add(holder, name);
    if (time.isPauseDue) await time.pause();
    return time.isOver ? 'stop' : 'continue';
  };
}

/** Files by age, of which only the newest are given. */
class Newest {
  readonly #resultsMax: number;
  readonly #bytesMax: number;
  #found: { path: string; mtimeMs: number }[] = [];
  #count = 0;

  constructor({ globResultsMax, globOutputBytesMax }: ToolLimits) {
    this.#resultsMax = globResultsMax;
    this.#bytesMax = globOutputBytesMax;
  }

  async add(directory: Directory, name: string): Promise<void> {
    const stats = await directory.stat(name);
    if (stats === undefined) return;
    this.#count++;
    this.#found.push({ path: directory.pathOf(name), mtimeMs: stats.mtimeMs });
    // Now and then, so that a hundred thousand are not all kept and sorting is rare.
    if (this.#found.length >= this.#resultsMax * 2 + 1_000) this.#found = this.#sorted();
  }

  take(): { paths: readonly string[]; remarks: readonly string[] } {
    const paths: string[] = [];
    let bytes = 0;
    for (const { path } of this.#sorted()) {
      bytes += Buffer.byteLength(path) + 1;
      if (bytes > this.#bytesMax) break;
      paths.push(path);
    }
    const leftOut = this.#count - paths.length;
    return {
      paths,
      remarks: leftOut > 0 ? [`(${leftOut} older files are left out: use a narrower pattern)`] : [],
    };
  }

  #sorted(): { path: string; mtimeMs: number }[] {
    const byAge = this.#found.sort((one, other) => other.mtimeMs - one.mtimeMs || (one.path < other.path ? -1 : 1));
    return byAge.slice(0, this.#resultsMax);
  }
}

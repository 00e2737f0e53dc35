import { isAbsolute } from 'node:path';
import type { Directory } from '../../workspace/directory.ts';
import type { HostContext } from '../host-context.ts';
import { ToolFailure } from '../../tool-failure.ts';
import type { ToolLimits } from '../../tool-limits.ts';
import { findFiles } from './find-files.ts';
import { GlobPattern } from './glob-pattern.ts';
import { SearchTime } from '../search/search-time.ts';

/** The checked input of `glob`. */
export interface GlobInput {
  readonly pattern: string;
  readonly path?: string | null | undefined;
}

/** Finds files by their names, the newest first. */
export async function runGlob(input: GlobInput, { files, workspace, limits, signal }: HostContext): Promise<string> {
  const { pattern, path } = input;
  checkPattern(pattern);
  const glob = new GlobPattern(pattern, limits);
  const newest = new Newest(limits);
  const time = new SearchTime(limits.globTimeoutMs, signal);
  const end = await files.search(workspace, path ?? '.', async ({ directory, file }) => {
    if (file !== undefined) throw new ToolFailure(`${path} is a file: give a directory as path`);
    return await findFiles(directory, {
      glob,
      time,
      entriesMax: limits.walkEntriesMax,
      depthMax: limits.walkDepthMax,
      onFiles: (holder, names) => newest.add(holder, names),
    });
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

/** Collects files and returns only the newest. */
class Newest {
  readonly #resultsMax: number;
  readonly #bytesMax: number;
  #found: { path: string; mtimeMs: number }[] = [];
  #count = 0;
  /** Files older than this are not among the newest ones. */
  #oldestMs = Number.NEGATIVE_INFINITY;

  constructor({ globResultsMax, globOutputBytesMax }: ToolLimits) {
    this.#resultsMax = globResultsMax;
    this.#bytesMax = globOutputBytesMax;
  }

  add(directory: Directory, names: readonly string[]): void {
    for (const [at, stats] of directory.statsNow(names).entries()) {
      if (stats === undefined) continue;
      this.#count++;
      if (stats.mtimeMs < this.#oldestMs) continue;
      this.#found.push({ path: directory.pathOf(names[at]!), mtimeMs: stats.mtimeMs });
    }
    // Pruned only from time to time, so that memory is bounded and sorting is rare.
    if (this.#found.length < this.#resultsMax * 2 + 1_000) return;
    this.#found = this.#sorted();
    this.#oldestMs = this.#found.at(-1)!.mtimeMs;
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

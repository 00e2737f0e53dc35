import { constants } from 'node:fs';
import { closing, type Directory, isCode } from '../files/directory.ts';
import { throwIfInterrupted } from '../tool-failure.ts';
import type { ToolLimits } from '../tool-limits.ts';
import type { GrepFound } from './grep-tool.ts';
import { LineMatcher } from './line-matcher.ts';
import { walk } from './walk.ts';

export interface WalkingGrepRequest {
  readonly directory: Directory;
  /** Searches this one only. */
  readonly file: string | undefined;
  readonly pattern: string;
  readonly signal: AbortSignal;
  readonly limits: ToolLimits;
}

/** Searches by ourselves, where there is no ripgrep. */
export async function grepByWalking(request: WalkingGrepRequest): Promise<GrepFound> {
  const { directory, file, pattern, signal, limits } = request;
  const { grepOutputBytesMax: bytesMax, grepTimeoutMs: timeoutMs } = limits;
  const found: string[] = [];
  let bytes = 0;
  let tooLarge = 0;
  const matcher = new LineMatcher({ pattern, timeoutMs, signal, lineCharsMax: limits.grepLineCharsMax });
  try {
    const end = await search();
    throwIfInterrupted(signal);
    return {
      lines: found.join('\n'),
      remarks: [
        ...(end === 'stopped' ? [`(cut after ${bytesMax} bytes: use a narrower pattern or path)`] : []),
        ...(end === 'too_many' ? ['(there is too much to search everything: give a path)'] : []),
        ...(end === 'late' ? [`(stopped after ${timeoutMs} ms: give a path, or a simpler pattern)`] : []),
        ...(tooLarge > 0 ? [`(${tooLarge} files over ${limits.grepFileBytesMax} bytes were not searched)`] : []),
      ],
    };
  } finally {
    await matcher.close();
  }

  async function search(): Promise<'whole' | 'stopped' | 'too_many' | 'late'> {
    await matcher.start();
    const end = file === undefined ? await searchAll() : await searchOne(directory, file);
    return matcher.isLate ? 'late' : end === 'continue' ? 'whole' : end === 'stop' ? 'stopped' : end;
  }

  async function searchAll(): Promise<'whole' | 'stopped' | 'too_many'> {
    const { walkEntriesMax: entriesMax, walkDepthMax: depthMax } = limits;
    return await walk(directory, { entriesMax, depthMax, signal, onFile: searchOne });
  }

  async function searchOne(holder: Directory, name: string): Promise<'continue' | 'stop'> {
    const text = await readText(holder, name);
    if (text === undefined) return 'continue';
    for (const match of await matcher.match(text)) {
      const line = `${holder.pathOf(name)}:${match.number}:${match.line}`;
      bytes += Buffer.byteLength(line) + 1;
      if (bytes > bytesMax) return 'stop';
      found.push(line);
    }
    return matcher.isLate ? 'stop' : 'continue';
  }

  /** `undefined` for what is no text, too large, or gone. */
  async function readText(holder: Directory, name: string): Promise<Buffer | undefined> {
    try {
      return await closing(await holder.openFile(name, constants.O_RDONLY), async (handle) => {
        const stats = await handle.stat();
        if (!stats.isFile() || stats.size === 0) return undefined;
        if (stats.size > limits.grepFileBytesMax) {
          tooLarge++;
          return undefined;
        }
        const content = await handle.readFile();
        return content.includes(0) ? undefined : content;
      });
    } catch (error) {
      if (isCode(error, 'ENOENT', 'EACCES', 'EPERM', 'ELOOP', 'ENXIO')) return undefined;
      throw error;
    }
  }
}

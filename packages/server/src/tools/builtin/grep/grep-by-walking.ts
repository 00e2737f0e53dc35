import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { LinearPattern } from '../../../base/linear-regex.ts';
import { closing, type Directory, isCode } from '../../workspace/directory.ts';
import { ToolFailure } from '../../tool-failure.ts';
import type { GrepFound, GrepRequest } from './grep-request.ts';
import { LineSplitter } from './line-splitter.ts';
import { SearchTime } from '../search/search-time.ts';
import { walk } from '../../workspace/walk.ts';

/** The search without ripgrep. */
export async function grepByWalking({ directory, file, pattern, signal, limits }: GrepRequest): Promise<GrepFound> {
  const { grepOutputBytesMax: bytesMax, grepTimeoutMs: timeoutMs, grepFileBytesMax: fileBytesMax } = limits;
  const { grepMatchBytesMax: matchBytesMax, grepLineCharsMax: lineCharsMax } = limits;
  const matches = await compile(pattern);
  const time = new SearchTime(timeoutMs, signal);
  const found: string[] = [];
  let bytes = 0;
  let tooLarge = 0;
  let tooLong = 0;

  const end = file === undefined ? await searchAll() : await searchOne(directory, file);
  const isLate = time.isOver;
  return {
    lines: found.join('\n'),
    remarks: [
      ...(bytes > bytesMax ? [`(cut after ${bytesMax} bytes: use a narrower pattern or path)`] : []),
      ...(end === 'too_many' ? ['(there is too much to search everything: give a path)'] : []),
      ...(isLate ? [`(stopped after ${timeoutMs} ms: give a path, or a simpler pattern)`] : []),
      ...(tooLarge > 0 ? [`(${tooLarge} files over ${fileBytesMax} bytes were not searched)`] : []),
      ...(tooLong > 0 ? [`(${tooLong} lines over ${matchBytesMax} bytes were searched up to there)`] : []),
    ],
  };

  async function searchAll(): Promise<'whole' | 'stopped' | 'too_many'> {
    const { walkEntriesMax: entriesMax, walkDepthMax: depthMax } = limits;
    return await walk(directory, { entriesMax, depthMax, signal, onFile: searchOne });
  }

  async function searchOne(holder: Directory, name: string): Promise<'continue' | 'stop'> {
    for (const line of await withFile(holder, name, searchLines)) {
      const shown = `${holder.pathOf(name)}:${line}`;
      bytes += Buffer.byteLength(shown) + 1;
      if (bytes > bytesMax) return 'stop';
      found.push(shown);
    }
    return time.isOver ? 'stop' : 'continue';
  }

  /** The lines that fit, as `number:text`. None of a file with a NUL in it, which is not text. */
  async function searchLines(handle: FileHandle): Promise<readonly string[]> {
    const lines: string[] = [];
    let room = bytesMax;
    const splitter = new LineSplitter(matchBytesMax, ({ number, text, isCut }) => {
      if (isCut) tooLong++;
      if (room < 0 || !matches.test(text)) return;
      const line = `${number}:${text.slice(0, lineCharsMax)}${text.length > lineCharsMax ? LONG : ''}`;
      room -= line.length;
      lines.push(line);
    });
    const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (let position = 0; position < fileBytesMax && !time.isOver; ) {
      const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position);
      if (bytesRead === 0) break;
      position += bytesRead;
      if (chunk.subarray(0, bytesRead).includes(0)) return [];
      splitter.add(chunk.subarray(0, bytesRead));
      if (time.isPauseDue) await time.pause();
    }
    splitter.end();
    return lines;
  }

  /** Skips entries that are not files, too large, or deleted. */
  async function withFile(
    holder: Directory,
    name: string,
    work: (handle: FileHandle) => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    try {
      return await closing(await holder.openFile(name, constants.O_RDONLY), async (handle) => {
        const stats = await handle.stat();
        if (stats.isFile() && stats.size > fileBytesMax) tooLarge++;
        return stats.isFile() && stats.size <= fileBytesMax ? await work(handle) : [];
      });
    } catch (error) {
      if (isCode(error, 'ENOENT', 'EACCES', 'EPERM', 'ELOOP', 'ENXIO')) return [];
      throw error;
    }
  }
}

const CHUNK_BYTES = 64 * 1024;
const LONG = ' [... omitted end of long line]';

/** The engine is loaded by the first search that needs it. */
async function compile(pattern: string): Promise<LinearPattern> {
  const { compilePattern, PatternError } = await import('../../../base/linear-regex.ts');
  try {
    return compilePattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new ToolFailure(`the pattern cannot be used: ${error.message}`, { cause: error });
  }
}

import { lstat, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Schedule } from '../../../../base/schedule.ts';
import { readPlainFile } from '../../launch/read-plain-file.ts';
import { programLimits } from '../../limits.ts';

/** The data directories of opencode that conversations are copied between. */
export interface CopiedConversations {
  /** The message that the other program continues from. It must be in the copy. */
  readonly message: string;
  readonly from: string;
  readonly to: string;
  readonly schedule: Schedule;
}

/**
 * Copies opencode's database with all conversations of a session. It is not opened, because agents can write to it.
 * While opencode writes, the copy waits. False if no database can be copied.
 */
export async function copyConversations({ message, from, to, schedule }: CopiedConversations): Promise<boolean> {
  const source = await realpath(from).catch(() => from);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0)
      await new Promise<void>((resolve) => void schedule(resolve, programLimits.programTranscriptMs / ATTEMPTS));
    const contents = await readUnchanged(source);
    if (contents === undefined || !contents.some((content) => content?.includes(message))) continue;
    await mkdir(to, { recursive: true, mode: 0o700 });
    for (const [at, name] of FILES.entries()) {
      await rm(join(to, name), { recursive: true, force: true });
      const content = contents[at];
      if (content !== undefined) await writeFile(join(to, name), content, { mode: 0o600, flag: 'wx' });
    }
    return true;
  }
  return false;
}

/** The database, and its write-ahead log. */
const FILES = ['opencode.db', 'opencode.db-wal'] as const;

const ATTEMPTS = 10;

/** Reads the files. Undefined if there is no database, a file is too long, or a file was written in the meantime. */
async function readUnchanged(directory: string): Promise<(Buffer | undefined)[] | undefined> {
  const before = await readStamps(directory);
  const contents: (Buffer | undefined)[] = [];
  for (const name of FILES)
    contents.push(await readPlainFile(join(directory, name), programLimits.programTranscriptBytesMax));
  const isWhole = contents.every((content, at) => (content === undefined) === (before[at] === null));
  return contents[0] !== undefined && isWhole && String(before) === String(await readStamps(directory))
    ? contents
    : undefined;
}

async function readStamps(directory: string): Promise<(string | null)[]> {
  return await Promise.all(
    FILES.map(async (name) => {
      const found = await lstat(join(directory, name), { bigint: true }).catch(() => null);
      return found === null ? null : `${found.ino} ${found.size} ${found.mtimeNs}`;
    }),
  );
}

import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { programLimits } from '../../limits.ts';
import type { Schedule } from '../../../../base/schedule.ts';

/** A conversation and the directories that it is copied between. */
export interface CopiedConversation {
  /** The program's name of the conversation. */
  readonly conversation: string;
  /** The message that the other program continues from. It must be in the transcript. */
  readonly message: string;
  /** Configuration directories of the program, and the workspaces of both sessions. */
  readonly from: { readonly config: string; readonly directory: string };
  readonly to: { readonly config: string; readonly directory: string };
}

/**
 * Copies the transcript of a conversation to the path where a program in another workspace finds it. False if there is no transcript that can be
 * copied. Agents can write to these directories: no link in them is followed.
 */
export async function copyConversation(copied: CopiedConversation, schedule: Schedule): Promise<boolean> {
  if (!/^[\w-]+$/.test(copied.conversation)) return false;
  // The program writes its transcript a moment after it has printed the message.
  for (let waited = 0; waited <= programLimits.programTranscriptMs; waited += POLL_MS) {
    const outcome = await tryCopy(copied);
    if (outcome !== 'not_yet') return outcome === 'copied';
    await new Promise<void>((resolve) => void schedule(resolve, POLL_MS));
  }
  return false;
}

const POLL_MS = 50;

async function tryCopy({ conversation, message, from, to }: CopiedConversation): Promise<Outcome> {
  const name = `${conversation}.jsonl`;
  const projects = join(await realpath(from.config).catch(() => from.config), 'projects');
  for (const project of await readdir(projects).catch(() => [])) {
    const source = await openPlain(join(projects, project, name));
    if (source === undefined) continue;
    try {
      // The program names the folder of a project after the path of the workspace.
      const target = project === toProjectName(from.directory) ? toProjectName(to.directory) : project;
      const directory = join(to.config, 'projects', target);
      await mkdir(directory, { recursive: true, mode: 0o700 });
      return await copyLines(source, join(directory, name), message);
    } finally {
      await source.close();
    }
  }
  return 'not_yet';
}

type Outcome = 'copied' | 'not_yet' | 'too_long';

/** The program's folder name of a workspace: each character other than a letter or digit becomes a dash. */
export function toProjectName(directory: string): string {
  return directory.replaceAll(/[^a-zA-Z0-9]/g, '-');
}

/** Opens a regular file. Undefined if the path is not a file, or leads through a link. */
async function openPlain(path: string): Promise<FileHandle | undefined> {
  if (!(await lstat(path).catch(() => undefined))?.isFile()) return undefined;
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
  if (file === undefined) return undefined;
  const [opened, there, real] = await Promise.all([file.stat(), stat(path), realpath(path)]).catch(() => []);
  if (opened?.isFile() && opened.ino === there?.ino && opened.dev === there.dev && real === path) return file;
  await file.close();
  return undefined;
}

/** Copies whole lines only: the program may be writing the next one. */
async function copyLines(source: FileHandle, target: string, message: string): Promise<Outcome> {
  const { size } = await source.stat();
  const length = await findEndOfLines(source, size);
  if (length > programLimits.programTranscriptBytesMax) return 'too_long';
  if (length === 0) return 'not_yet';
  await rm(target, { force: true });
  const copy = await open(target, 'wx', 0o600);
  const reader = source.createReadStream({ start: 0, end: length - 1, autoClose: false });
  const search = new Search(`"uuid":"${message}"`);
  reader.on('data', (chunk) => search.push(chunk as Buffer));
  await pipeline(reader, copy.createWriteStream());
  return search.isFound ? 'copied' : 'not_yet';
}

/** Searches for a text in a stream of bytes. */
class Search {
  readonly #needle: Buffer;
  #rest = Buffer.alloc(0);
  isFound = false;

  constructor(text: string) {
    this.#needle = Buffer.from(text);
  }

  push(chunk: Buffer): void {
    if (this.isFound) return;
    const bytes = Buffer.concat([this.#rest, chunk]);
    this.isFound = bytes.includes(this.#needle);
    this.#rest = bytes.subarray(Math.max(0, bytes.length - this.#needle.length));
  }
}

async function findEndOfLines(file: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.alloc(64 * 1024);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunk.length);
    const { bytesRead } = await file.read(chunk, 0, end - start, start);
    const at = chunk.subarray(0, bytesRead).lastIndexOf(0x0a);
    if (at >= 0) return start + at + 1;
    end = start;
  }
  return 0;
}

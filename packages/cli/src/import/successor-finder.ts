import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { classifyPrompt } from './classify-prompt.ts';
import { FileTail } from './file-tail.ts';
import { type SessionFile, toSessionFile } from './session-files.ts';

/**
 * Finds the sessions that continue in the same terminal after `/clear` or a fork: new files in the folder of the first one.
 * A file does not name its predecessor, but starts with the command `/clear` or, for a fork, with the same record.
 */
export class SuccessorFinder {
  readonly #first: SessionFile;
  /** Files that existed before or belong to other terminals. */
  #ignored: Set<string> | undefined;
  /** First records of the found sessions. */
  readonly #origins = new Set<string>();

  constructor(first: SessionFile) {
    this.#first = first;
  }

  /** The sessions that started since the last call. */
  async find(): Promise<SessionFile[]> {
    const names = await readdir(dirname(this.#first.path)).catch(() => []);
    this.#ignored ??= new Set(names);
    if (this.#origins.size === 0) this.#learn(await readHead(this.#first.path));
    const found: SessionFile[] = [];
    for (const name of names.filter((each) => each.endsWith('.jsonl') && this.#ignored?.has(each) === false)) {
      const file = await toSessionFile(join(dirname(this.#first.path), name));
      const head = file === undefined ? undefined : await readHead(file.path);
      if (file === undefined || head === undefined) continue;
      const isFork = head.uuid !== undefined && this.#origins.has(head.uuid);
      // The first records of a new file may not be written yet.
      if (!isFork && head.isClear === undefined) continue;
      this.#ignored.add(name);
      if (!isFork && head.isClear !== true) continue;
      this.#learn(head);
      found.push(file);
    }
    return found;
  }

  #learn({ uuid }: Head): void {
    if (uuid !== undefined) this.#origins.add(uuid);
  }
}

interface Head {
  /** The uuid of the first record that has one. */
  readonly uuid: string | undefined;
  /** Whether the first prompt is `/clear`; undefined if there is no prompt yet. */
  readonly isClear: boolean | undefined;
}

async function readHead(path: string): Promise<Head> {
  let uuid: string | undefined;
  for await (const record of new FileTail(path).read()) {
    const own = record?.fields['uuid'];
    uuid ??= typeof own === 'string' ? own : undefined;
    if (record?.type !== 'user' || record.isMeta) continue;
    const prompt = classifyPrompt(record.message.blocks);
    return { uuid, isClear: prompt.type === 'command' && prompt.text === '/clear' };
  }
  return { uuid, isClear: undefined };
}

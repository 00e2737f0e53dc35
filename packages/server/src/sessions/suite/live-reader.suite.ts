import { isDeepStrictEqual } from 'node:util';
import type { Entry } from '../../store/frame.ts';
import type { SessionLog } from '../../log/log.ts';
import type { Tail } from '../../log/tail.ts';
import type { Store } from '../../store/store.ts';

/** Reads a session live, and resumes at its cursor when the log it read from has ended. */
export class LiveReader {
  readonly #sessionId: string;
  readonly #after: number;
  readonly #seen: Entry[] = [];
  #tail: Tail | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(sessionId: string, after: number) {
    this.#sessionId = sessionId;
    this.#after = after;
  }

  attach(log: SessionLog): void {
    const after = this.#seen.at(-1)?.lastSeq ?? this.#after;
    this.#tail = log.tail({ sessionId: this.#sessionId, after });
    this.#reading = this.#read(this.#tail);
  }

  /** A dead process does not end its readers, so this does not wait for them. */
  async detach(): Promise<void> {
    void this.#tail?.return().catch(() => {});
    await Promise.race([this.#reading, new Promise((resolve) => setImmediate(resolve))]);
    this.#tail = undefined;
  }

  /** It saw what is in the store, from its cursor on, each frame once and in order. */
  async findProblems(store: Store): Promise<string[]> {
    const all = await store.read({
      sessionId: this.#sessionId,
      after: this.#after,
      entriesMax: Infinity,
      bytesMax: Infinity,
    });
    const toText = ({ seq, ...entry }: Entry) =>
      `${seq} ${'bytes' in entry ? Buffer.from(entry.bytes).toString() : 'pruned'}`;
    if (isDeepStrictEqual(this.#seen.map(toText), all.map(toText))) return [];
    return [`a reader from ${this.#after} on saw ${this.#seen.length} entries, the store has ${all.length}`];
  }

  async #read(tail: Tail): Promise<void> {
    for await (const entries of tail) {
      if (this.#tail !== tail) return;
      this.#seen.push(...entries);
    }
  }
}

import { WakeUps } from './change-waiter.ts';
import { logLimits } from './limits.ts';
import { bytesOf, selectEntries } from '../store/entries.ts';
import type { Entry } from '../store/frame.ts';

/** Why a tail ended: `aborted` by its reader, `deleted` with the session, `closed` with the log. */
export type TailEnd = 'aborted' | 'deleted' | 'closed';

/**
 * What the readers of one session share: the head of its log and the newest entries.
 *
 * Readers pull. The feed only knows which readers wait for more, so a reader that stops costs nothing but its
 * cursor, and delays no other reader.
 */
export class Feed {
  /** The `seq` of the last frame known to be committed. It may be ahead of the entries here; the store has the rest. */
  head: number;
  /** Set once no more entries follow. */
  end: Exclude<TailEnd, 'aborted'> | undefined;
  readonly #bytesMax: number;
  #entries: Entry[] = [];
  #bytes = 0;
  /** Callbacks of readers that wait for more. */
  readonly wakeUps = new WakeUps();
  #isWaking = false;

  constructor(head: number, bytesMax: number = logLimits.feedBytesMax) {
    this.head = head;
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds new entries, or entries that one reader read and other readers need, too. */
  publish(entries: readonly Entry[]): void {
    const last = this.#entries.at(-1)?.lastSeq;
    const added = last === undefined ? entries : entries.filter(({ seq }) => seq > last);
    if (last !== undefined && added[0] !== undefined && added[0].seq > last + 1) this.drop();
    for (const entry of added) {
      this.#entries.push(entry);
      this.#bytes += bytesOf(entry);
    }
    this.#forgetOldest();
    this.raise(entries.at(-1)?.lastSeq ?? 0);
  }

  /** Records that the log has frames up to this one. */
  raise(head: number): void {
    if (head <= this.head) return;
    this.head = head;
    if (this.#isWaking) return;
    this.#isWaking = true;
    // The writer continues first: the model request that it starts now takes longer than anything its readers do.
    process.nextTick(() => {
      this.#isWaking = false;
      this.wakeUps.wakeAll();
    });
  }

  /** The entries behind the cursor, if the feed has all of them from there on. */
  select(after: number, entriesMax: number, bytesMax: number): Entry[] | undefined {
    const first = this.#entries[0];
    if (first === undefined || after + 1 < first.seq || after >= this.#entries.at(-1)!.lastSeq) return undefined;
    return selectEntries(this.#entries, { after, entriesMax, bytesMax });
  }

  /** Drops the entries. The store has all of them. */
  drop(): void {
    this.#entries = [];
    this.#bytes = 0;
  }

  finish(end: Exclude<TailEnd, 'aborted'>): void {
    this.end = end;
    this.drop();
    this.wakeUps.wakeAll();
  }

  /** Drops a quarter at a time: the remaining entries are moved, so dropping a few with each commit would cost more. */
  #forgetOldest(): void {
    if (this.#bytes <= this.#bytesMax) return;
    let count = 0;
    while (this.#bytes > this.#bytesMax * 0.75) this.#bytes -= bytesOf(this.#entries[count++]!);
    this.#entries.splice(0, count);
  }
}

import { WakeUps } from './change-waiter.ts';
import { logLimits } from './limits.ts';
import { bytesOf, selectEntries } from '../store/entries.ts';
import type { Entry } from '../store/frame.ts';

/** Why a tail ended: by its reader, with the session, or with the log. */
export type TailEnd = 'aborted' | 'deleted' | 'closed';

/**
 * What the readers of one session share: how far its log goes, and the newest entries of it.
 *
 * Readers pull. The feed knows nothing about them except who waits for more, so a reader that stops costs nothing but its
 * cursor, and delays no other reader.
 */
export class Feed {
  /** The last one known to be committed. It may be ahead of the entries here: then the store has the rest. */
  head: number;
  /** Set when there will be no more. */
  end: Exclude<TailEnd, 'aborted'> | undefined;
  readonly #bytesMax: number;
  #entries: Entry[] = [];
  #bytes = 0;
  /** Of readers that wait for more. */
  readonly wakeUps = new WakeUps();
  #isWaking = false;

  constructor(head: number, bytesMax: number = logLimits.feedBytesMax) {
    this.head = head;
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** New entries, or some that were read and that others will want too. */
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

  /** What lies behind the cursor, if all of it from there on is here. */
  select(after: number, entriesMax: number, bytesMax: number): Entry[] | undefined {
    const first = this.#entries[0];
    if (first === undefined || after + 1 < first.seq || after >= this.#entries.at(-1)!.lastSeq) return undefined;
    return selectEntries(this.#entries, { after, entriesMax, bytesMax });
  }

  /** Forgets the entries. The store has them all. */
  drop(): void {
    this.#entries = [];
    this.#bytes = 0;
  }

  finish(end: Exclude<TailEnd, 'aborted'>): void {
    this.end = end;
    this.drop();
    this.wakeUps.wakeAll();
  }

  /** A quarter at a time: what stays has to be moved, so to forget a little with each commit would cost more than the rest. */
  #forgetOldest(): void {
    if (this.#bytes <= this.#bytesMax) return;
    let count = 0;
    while (this.#bytes > this.#bytesMax * 0.75) this.#bytes -= bytesOf(this.#entries[count++]!);
    this.#entries.splice(0, count);
  }
}

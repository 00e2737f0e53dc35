import { getHeapStatistics } from 'node:v8';
import { sessionLimits } from '../../core/limits.ts';

/** The content of one session in memory. */
export interface HeldContent {
  /** Records the new size of the session. */
  resize(bytes: number): void;
  /** Releases the memory: the session is no longer open. */
  release(): void;
}

/**
 * Bounds the content of all open sessions, as V8 ends a process whose heap is full. A session that does not fit waits until
 * others are released. Small sessions do not wait for large ones, so that a few large ones do not stop all others.
 */
export class OpenContent {
  readonly #lanes: { readonly small: Lane; readonly large: Lane };

  constructor(bytesMax: number = openBytesMax()) {
    const largeBytesMax = bytesMax * sessionLimits.largeSessionsShare;
    this.#lanes = { small: new Lane(bytesMax - largeBytesMax), large: new Lane(largeBytesMax) };
  }

  /** Whether a session waits until others are released. */
  get isAwaited(): boolean {
    return this.#lanes.small.isAwaited || this.#lanes.large.isAwaited;
  }

  /** Resolves when a session with this much content can be opened; with undefined if the host is closed before. */
  async admit(bytes: number): Promise<HeldContent | undefined> {
    if (bytes <= sessionLimits.unmeasuredBytes) return this.#lanes.small.hold(0);
    const isSmall = bytes <= sessionLimits.smallSessionBytes;
    return await this.#lanes[isSmall ? 'small' : 'large'].admit(bytes);
  }

  /** Ends all waits. */
  close(): void {
    this.#lanes.small.close();
    this.#lanes.large.close();
  }
}

/** Sessions that share an amount of memory, and a queue of sessions that wait for it. */
class Lane {
  readonly #bytesMax: number;
  readonly #waiting: { readonly bytes: number; readonly resolve: (held: HeldContent | undefined) => void }[] = [];
  #bytes = 0;
  #isClosed = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  admit(bytes: number): HeldContent | Promise<HeldContent | undefined> | undefined {
    if (this.#isClosed) return undefined;
    if (this.#waiting.length === 0 && this.#fits(bytes)) return this.hold(bytes);
    return new Promise((resolve) => this.#waiting.push({ bytes, resolve }));
  }

  hold(bytes: number): HeldContent {
    let own = bytes;
    this.#bytes += own;
    let isReleased = false;
    const resize = (now: number) => {
      if (isReleased) return;
      const counted = now <= sessionLimits.unmeasuredBytes ? 0 : now;
      this.#bytes += counted - own;
      own = counted;
      this.#pump();
    };
    return {
      resize,
      release: () => {
        resize(0);
        isReleased = true;
      },
    };
  }

  close(): void {
    this.#isClosed = true;
    for (const { resolve } of this.#waiting.splice(0)) resolve(undefined);
  }

  /** A session that is larger than the whole lane is opened when no other one is. */
  #fits(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#bytesMax;
  }

  #pump(): void {
    while (this.#waiting.length > 0 && this.#fits(this.#waiting[0]!.bytes)) {
      const { bytes, resolve } = this.#waiting.shift()!;
      resolve(this.hold(bytes));
    }
  }
}

function openBytesMax(): number {
  const { openHeapShare, openHeapFactor } = sessionLimits;
  return (getHeapStatistics().heap_size_limit * openHeapShare) / openHeapFactor;
}

/** One thing that an agent was told, said or did, in the form that transcripts, logs and streams share. */
export type Item =
  /** Said to the agent: by a person, or by the agent that delegates to it. */
  | { readonly kind: 'told'; readonly text: string }
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  /** A model request failed for good. */
  | { readonly kind: 'error'; readonly text: string }
  /** Why the model refused, where a log has it as the status of the thread; a transcript may have it as an error. */
  | { readonly kind: 'refusal'; readonly text: string }
  /** What came before was replaced by a summary. */
  | { readonly kind: 'compacted'; readonly text: '' }
  | Call;

export interface Call {
  readonly kind: 'call';
  /** As the model named it. */
  readonly id: string;
  readonly name: string;
  /** JSON with sorted keys. */
  readonly input: string;
  readonly result: Result | null;
}

export interface Result {
  readonly isError: boolean;
  /** The log closed the call without a result of the program. */
  readonly isInterrupted: boolean;
  readonly content: string;
}

export interface ThreadStory {
  /** `main`, or the id that the program gave the sub-agent. */
  readonly key: string;
  /** The key of the agent that started it; null for the main agent. */
  readonly parent: string | null;
  readonly items: readonly Item[];
  /** Items of model requests that did not end well: a program that is stopped then does not always write them. */
  readonly unfinished?: ReadonlySet<Item>;
}

/** Text that grew in a model request which failed, and never became a block: only the fleet stream shows it. */
export interface Draft {
  readonly kind: 'text' | 'thinking';
  readonly text: string;
  /** How many items of the thread are before it. */
  readonly at: number;
}

/** What happened in one session according to one source, by the keys of the threads. */
export interface Story {
  readonly threads: ReadonlyMap<string, ThreadStory>;
  /** What no correct source contains, such as a second result of one call. */
  readonly problems: readonly string[];
}

export const MAIN = 'main';

/** Collects a story item by item, in the order of its source. */
export class StoryBuilder {
  readonly #threads = new Map<string, Thread>();
  /** Who made each call. Threads may use the same ids. */
  readonly #owners = new Map<string, string>();
  readonly #problems: string[] = [];

  constructor() {
    this.open(MAIN, null);
  }

  open(key: string, parent: string | null): void {
    if (!this.#threads.has(key)) this.#threads.set(key, { parent, items: [], calls: new Map(), begin: null, open: [] });
  }

  add(key: string, item: Item): void {
    this.open(key, MAIN);
    const { items, calls } = this.#threads.get(key)!;
    if (item.kind === 'call') {
      if (calls.has(item.id)) this.#problems.push(`${key}: the call ${item.id} appears twice`);
      calls.set(item.id, items.length);
      this.#owners.set(item.id, key);
    }
    items.push(item);
  }

  end(key: string, callId: string, result: Result): void {
    const thread = this.#threads.get(key);
    const index = thread?.calls.get(callId);
    const call = index === undefined ? undefined : thread?.items[index];
    if (index === undefined || call?.kind !== 'call') {
      return void this.#problems.push(`${key}: a result without the call ${callId}`);
    }
    if (call.result !== null) this.#problems.push(`${key}: the call ${callId} has two results`);
    thread!.items[index] = { ...call, result };
  }

  /** A model request of the thread begins. Until it ends well, what follows is unfinished. */
  begin(key: string): void {
    const thread = this.#threads.get(key);
    if (thread !== undefined) thread.begin = thread.items.length;
  }

  /** How many items the thread has. */
  count(key: string): number {
    return this.#threads.get(key)?.items.length ?? 0;
  }

  finish(key: string, isWell: boolean): void {
    const thread = this.#threads.get(key);
    if (thread === undefined || thread.begin === null) return;
    if (!isWell) thread.open.push({ from: thread.begin, to: thread.items.length });
    thread.begin = null;
  }

  /** The thread that made the call. */
  ownerOf(callId: string): string | undefined {
    return this.#owners.get(callId);
  }

  problem(text: string): void {
    this.#problems.push(text);
  }

  build(): Story {
    const threads = [...this.#threads].map(([key, { parent, items, begin, open }]) => {
      const ranges = begin === null ? open : [...open, { from: begin, to: items.length }];
      const unfinished = new Set(ranges.flatMap(({ from, to }) => items.slice(from, to)));
      return [key, { key, parent, items, unfinished }] as const;
    });
    return { threads: new Map(threads), problems: this.#problems };
  }
}

interface Thread {
  readonly parent: string | null;
  readonly items: Item[];
  /** Where each call is among the items. */
  readonly calls: Map<string, number>;
  /** Where the items of the open model request begin. */
  begin: number | null;
  /** Where the items of requests are that did not end well. */
  readonly open: { readonly from: number; readonly to: number }[];
}

/** JSON whose text does not depend on the order of keys. */
export function toSortedJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  });
}

/** The texts of a content, and a mark for each other block. */
export function toPlainContent(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const parts = content.map((block: { readonly type?: unknown; readonly text?: unknown }) =>
    block.type === 'text' ? String(block.text) : `[${String(block.type)}]`,
  );
  return parts.filter((part) => part !== '').join('\n');
}

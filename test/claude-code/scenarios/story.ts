/** One input, text or call of an agent, in the form that transcripts, logs and streams share. */
export type Item =
  /** A message to the agent, from a person or from the agent that delegates to it. */
  | { readonly kind: 'input'; readonly text: string }
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  /** A model request failed for good. */
  | { readonly kind: 'error'; readonly text: string }
  /** Why the model refused, where a log has it as the status of the thread; a transcript may have it as an error. */
  | { readonly kind: 'refusal'; readonly text: string }
  /** A model request failed and is made again. A transcript does not have it. */
  | { readonly kind: 'retry'; readonly text: string }
  /** An error of the server about a lost program or lost background work. A transcript does not have it. */
  | { readonly kind: 'lost'; readonly text: string }
  /** A turn that did not end well, and why. A transcript does not have it. */
  | { readonly kind: 'ended'; readonly text: string }
  /** The earlier history was replaced by a summary. */
  | { readonly kind: 'compacted'; readonly text: '' }
  | Call;

export interface Call {
  readonly kind: 'call';
  /** The id that the model gave the call. */
  readonly id: string;
  readonly name: string;
  /** JSON with sorted keys. */
  readonly input: string;
  readonly result: Result | null;
}

export interface Result {
  readonly isError: boolean;
  /** Whether the log closed the call without a result of the program. */
  readonly isInterrupted: boolean;
  readonly content: string;
  /** Whether a client provided the result. The program may add notes for the model. */
  readonly isGiven?: boolean;
}

export interface ThreadStory {
  /** `main`, or the id that the program gave the sub-agent. */
  readonly key: string;
  /** The key of the agent that started this one; null for the main agent. */
  readonly parent: string | null;
  readonly items: readonly Item[];
  /** Items of model requests that did not end well: a program that is stopped does not always write them. */
  readonly unfinished?: ReadonlySet<Item>;
  /** Items that were there before the program was killed, and calls whose results were. */
  readonly beforeKill?: ReadonlySet<Item>;
  readonly resolvedBeforeKill?: ReadonlySet<Item>;
}

/** The story of one session according to one source, by the keys of the threads. */
export interface Story {
  readonly threads: ReadonlyMap<string, ThreadStory>;
  /** Errors of the source, such as a second result of one call. */
  readonly problems: readonly string[];
}

export const MAIN = 'main';

/** Collects a story item by item, in the order of its source. */
export class StoryBuilder {
  readonly #threads = new Map<string, Thread>();
  /** The thread of each call. Threads may use the same ids. */
  readonly #owners = new Map<string, string>();
  readonly #problems: string[] = [];
  /** Whether the items that are added now were printed by a program that was killed later. */
  isBeforeKill = false;

  constructor() {
    this.open(MAIN, null);
  }

  open(key: string, parent: string | null): void {
    if (this.#threads.has(key)) return;
    const known = { before: new Set<number>(), resolvedBefore: new Set<number>() };
    this.#threads.set(key, { parent, items: [], calls: new Map(), begin: null, open: [], ...known });
  }

  add(key: string, item: Item): void {
    this.open(key, MAIN);
    const { items, calls, before } = this.#threads.get(key)!;
    if (this.isBeforeKill) before.add(items.length);
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
    if (this.isBeforeKill) thread!.resolvedBefore.add(index);
  }

  /** A model request of the thread begins. Until it ends well, what follows is unfinished. */
  begin(key: string): void {
    const thread = this.#threads.get(key);
    if (thread !== undefined) thread.begin = thread.items.length;
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
    const threads = [...this.#threads].map(([key, { parent, items, begin, open, before, resolvedBefore }]) => {
      const ranges = begin === null ? open : [...open, { from: begin, to: items.length }];
      const unfinished = new Set(ranges.flatMap(({ from, to }) => items.slice(from, to)));
      const pick = (indexes: ReadonlySet<number>) => new Set([...indexes].map((at) => items[at]!));
      const known = { beforeKill: pick(before), resolvedBeforeKill: pick(resolvedBefore) };
      return [key, { key, parent, items, unfinished, ...known }] as const;
    });
    return { threads: new Map(threads), problems: this.#problems };
  }
}

interface Thread {
  readonly parent: string | null;
  readonly items: Item[];
  /** The index of each call in the items. */
  readonly calls: Map<string, number>;
  /** The index of the first item of the open model request. */
  begin: number | null;
  /** Where the items of requests are that did not end well. */
  readonly open: { readonly from: number; readonly to: number }[];
  /** Where the items are that were there before the kill, and the calls whose results were. */
  readonly before: Set<number>;
  readonly resolvedBefore: Set<number>;
}

/** Whether a program writes items of this kind to its transcript. */
export function isWritten({ kind }: Item): boolean {
  return kind !== 'retry' && kind !== 'lost' && kind !== 'ended';
}

/** The items of a story that another source can have. */
export function onlyItems(story: Story, isShared: (item: Item) => boolean): Story {
  const threads = [...story.threads].map(
    ([key, thread]) => [key, { ...thread, items: thread.items.filter(isShared) }] as const,
  );
  return { ...story, threads: new Map(threads) };
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
  const parts = content.map((block: { readonly type?: unknown; readonly text?: unknown }) => {
    // The log has it as the text that it is in JSON.
    if (block.type === 'tool_reference') return JSON.stringify(block);
    return block.type === 'text' ? String(block.text) : `[${String(block.type)}]`;
  });
  return parts.filter((part) => part !== '').join('\n');
}

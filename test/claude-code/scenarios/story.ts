/** One thing that an agent was told, said or did, in the form that transcripts, logs and streams share. */
export type Item =
  /** Said to the agent: by a person, or by the agent that delegates to it. */
  | { readonly kind: 'told'; readonly text: string }
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  /** A model request failed for good. */
  | { readonly kind: 'error'; readonly text: string }
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
  readonly #threads = new Map<string, { readonly parent: string | null; readonly items: Item[] }>();
  /** Where each call is. */
  readonly #calls = new Map<string, { readonly key: string; readonly index: number }>();
  readonly #problems: string[] = [];

  constructor() {
    this.open(MAIN, null);
  }

  open(key: string, parent: string | null): void {
    if (!this.#threads.has(key)) this.#threads.set(key, { parent, items: [] });
  }

  add(key: string, item: Item): void {
    this.open(key, MAIN);
    const { items } = this.#threads.get(key)!;
    if (item.kind === 'call') {
      if (this.#calls.has(item.id)) this.#problems.push(`${key}: the call ${item.id} appears twice`);
      this.#calls.set(item.id, { key, index: items.length });
    }
    items.push(item);
  }

  end(key: string, callId: string, result: Result): void {
    const place = this.#calls.get(callId);
    if (place === undefined) return void this.#problems.push(`${key}: a result without the call ${callId}`);
    if (place.key !== key) this.#problems.push(`${key}: the result of ${callId}, which ${place.key} called`);
    const { items } = this.#threads.get(place.key)!;
    const call = items[place.index];
    if (call?.kind !== 'call') return;
    if (call.result !== null) this.#problems.push(`${key}: the call ${callId} has two results`);
    items[place.index] = { ...call, result };
  }

  /** The thread that made the call. */
  ownerOf(callId: string): string | undefined {
    return this.#calls.get(callId)?.key;
  }

  problem(text: string): void {
    this.#problems.push(text);
  }

  build(): Story {
    const threads = [...this.#threads].map(([key, { parent, items }]) => [key, { key, parent, items }] as const);
    return { threads: new Map(threads), problems: this.#problems };
  }
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

import { RecentMap } from '../../../../base/collections/recent-map.ts';
import { programLimits } from '../../limits.ts';
import { text } from '../../lines/values.ts';
import type { ProgramEvent } from '../../program.ts';
import type { Fields } from '../../lines/json-rpc-line.ts';

type BlockEvent =
  Extract<ProgramEvent, { type: 'block_started' | 'block_delta' | 'block_ended' }> extends infer Event
    ? Event extends { key: string }
      ? Omit<Event, 'key'>
      : never
    : never;

interface GrowingBlock {
  readonly name: string;
  readonly kind: 'text' | 'thinking';
  /** The source of the block's deltas: a thinking block has a summary, its full content, or both. */
  source: Source | undefined;
  part: number;
}

type Source = 'text' | 'summary' | 'content';

/** Text and thinking blocks of one thread, built from their items. A block without any text is not emitted. */
export class GrowingBlocks {
  readonly #emit: (event: BlockEvent) => void;
  readonly #open = new RecentMap<GrowingBlock>({ entriesMax: programLimits.programBlocksMax });

  constructor(emit: (event: BlockEvent) => void) {
    this.#emit = emit;
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  start(itemId: string, type: 'agentMessage' | 'reasoning'): void {
    if (!this.#open.has(itemId)) this.#add(itemId, type === 'reasoning' ? 'thinking' : 'text');
  }

  grow(itemId: string, source: Source, delta: string, part: number): void {
    const block = this.#open.get(itemId) ?? this.#add(itemId, source === 'text' ? 'text' : 'thinking');
    if (delta === '' || (block.source !== undefined && block.source !== source)) return;
    const { name, kind } = block;
    if (block.source === undefined) this.#emit({ type: 'block_started', block: name, kind });
    const isNext = block.source !== undefined && part > block.part;
    block.source = source;
    block.part = part;
    this.#emit({ type: 'block_delta', block: name, text: isNext ? `\n${delta}` : delta });
  }

  /** Ends a block with the content of its completed item, which replaces the deltas. */
  end(itemId: string, item: Fields): void {
    const isThought = item['type'] === 'reasoning';
    const { name, source } = this.#open.get(itemId) ?? this.#add(itemId, isThought ? 'thinking' : 'text');
    this.#open.delete(itemId);
    const whole = isThought ? toThought(item, source) : (text(item['text']) ?? '');
    if (whole === '') return;
    const content = isThought
      ? ({ type: 'thinking', thinking: whole, signature: '' } as const)
      : ({ type: 'text', text: whole } as const);
    this.#emit({ type: 'block_ended', block: name, content });
  }

  /** Drops the open blocks of a request that has ended: they are never completed. */
  drop(): void {
    this.#open.clear();
  }

  /** Adds a block. Its name is a number, because item ids come from the model and may repeat. */
  #add(itemId: string, kind: 'text' | 'thinking'): GrowingBlock {
    const block: GrowingBlock = { name: `block_${++blocks}`, kind, source: undefined, part: 0 };
    this.#open.set(itemId, block);
    return block;
  }
}

let blocks = 0;

function toThought({ summary, content }: Fields, source: Source | undefined): string {
  const [short, long] = [toParagraphs(summary), toParagraphs(content)];
  return source === 'content' || short === '' ? long : short;
}

function toParagraphs(value: unknown): string {
  const parts: readonly unknown[] = Array.isArray(value) ? value : [];
  return parts.map((part) => (typeof part === 'string' ? part : '')).join('\n');
}

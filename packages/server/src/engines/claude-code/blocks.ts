import type { AssistantBlock } from '../../base/content.ts';
import type { ProgramEvent } from '../program.ts';

type Kind = 'text' | 'thinking';

interface GrowingBlock {
  readonly kind: Kind;
  text: string;
}

/** What agents are just saying, by its name. A whole line, or the end of its stream, says that it is done. */
export class GrowingBlocks {
  readonly #open = new Map<string, Map<string, GrowingBlock>>();

  grow(key: string, block: string, kind: Kind, text: string): ProgramEvent[] {
    const open = this.#openOf(key);
    const known = open.get(block);
    const growing = known ?? { kind, text: '' };
    open.set(block, growing);
    growing.text += text;
    const delta: ProgramEvent = { type: 'block_delta', key, block, text };
    return known === undefined ? [{ type: 'block_started', key, block, kind }, delta] : [delta];
  }

  /** The rest of it: nobody sees that grow. */
  add(key: string, block: string, kind: Kind, text: string): void {
    this.set(key, block, kind, (this.#open.get(key)?.get(block)?.text ?? '') + text);
  }

  /** All of it, as far as it is known: nobody sees it grow. */
  set(key: string, block: string, kind: Kind, text: string): void {
    const open = this.#openOf(key);
    open.set(block, { kind: open.get(block)?.kind ?? kind, text });
  }

  /** It turned out different. What is done already stays as it was said. */
  replace(key: string, block: string, text: string): void {
    const growing = this.#open.get(key)?.get(block);
    if (growing !== undefined) growing.text = text;
  }

  end(key: string, block: string): ProgramEvent[] {
    const growing = this.#open.get(key)?.get(block);
    this.#open.get(key)?.delete(block);
    if (growing === undefined) return [];
    return [{ type: 'block_ended', key, block, content: toBlock(growing) }];
  }

  /** Everything that the agent was saying is whole. */
  endAll(key: string): ProgramEvent[] {
    const ended = [...(this.#open.get(key)?.keys() ?? [])].flatMap((block) => this.end(key, block));
    this.#open.delete(key);
    return ended;
  }

  #openOf(key: string): Map<string, GrowingBlock> {
    const open = this.#open.get(key) ?? new Map<string, GrowingBlock>();
    this.#open.set(key, open);
    return open;
  }
}

/** The signature of a thought is for the model that had it, and only the program speaks to that. */
function toBlock({ kind, text }: GrowingBlock): AssistantBlock {
  return kind === 'text' ? { type: 'text', text } : { type: 'thinking', thinking: text, signature: '' };
}

import type { AssistantBlock } from '../../../../base/content.ts';
import type { ProgramEvent } from '../../program.ts';

/** The kinds of blocks that have deltas. */
export type TextKind = 'text' | 'thinking';
/** All kinds of blocks. `opaque`: arrives complete, on a line of its own. */
export type BlockKind = TextKind | 'call' | 'opaque';

/** One block of an open response: its content so far, and whether it was emitted. */
export class OpenBlock {
  readonly name: string;
  readonly kind: BlockKind;
  readonly callId: string | null;
  text = '';
  /** The endpoint has sent all of the block. */
  isStopped = false;
  /** The line of the block has come, or none will come. */
  isSettled = false;
  #isBlank = true;
  /** The block was emitted as `block_started`. */
  #isEmitted = false;

  constructor(name: string, kind: BlockKind, callId: string | null) {
    this.name = name;
    this.kind = kind;
    this.callId = callId;
  }

  /** Whether the text is empty or white space. The program keeps such a text and prints no line for it. */
  get isBlank(): boolean {
    return this.#isBlank;
  }

  /** Whether the block has ended and gets no line. */
  get isUnprinted(): boolean {
    return this.kind === 'text' && this.#isBlank && this.isStopped;
  }

  /** Adds text, and emits it if `isEmitted`. Of calls and opaque blocks nothing is kept: their lines have everything. */
  grow(key: string, text: string, isEmitted: boolean): ProgramEvent[] {
    const { name: block, kind } = this;
    if (kind !== 'text' && kind !== 'thinking') return [];
    this.text += text;
    this.#isBlank &&= isWhiteSpace(text);
    if (!isEmitted || text === '') return [];
    return this.#isEmitted ? [{ type: 'block_delta', key, block, text }] : this.catchUp(key);
  }

  /** Emits all text so far, if none of it was emitted. */
  catchUp(key: string): ProgramEvent[] {
    const { name: block, kind, text } = this;
    if (this.#isEmitted || text === '' || (kind !== 'text' && kind !== 'thinking')) return [];
    this.#isEmitted = true;
    return [
      { type: 'block_started', key, block, kind },
      { type: 'block_delta', key, block, text },
    ];
  }

  replace(text: string): void {
    this.text = text;
    this.#isBlank = isWhiteSpace(text);
  }

  /** Ends the block with the text so far. */
  end(key: string): ProgramEvent[] {
    const { name: block, kind, text } = this;
    if (kind !== 'text' && kind !== 'thinking') return [];
    return [{ type: 'block_ended', key, block, content: toContent(kind, text) }];
  }
}

/** The block with this text. Its signature stays empty: it is for the model, and only the program sends requests to the model. */
export function toContent(kind: TextKind, text: string): AssistantBlock {
  return kind === 'text' ? { type: 'text', text } : { type: 'thinking', thinking: text, signature: '' };
}

function isWhiteSpace(text: string): boolean {
  return !/\S/u.test(text);
}

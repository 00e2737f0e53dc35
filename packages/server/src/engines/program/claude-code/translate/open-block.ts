import type { AssistantBlock } from '../../../../base/content.ts';
import type { ProgramEvent } from '../../program.ts';

/** The kinds of blocks that grow. */
export type TextKind = 'text' | 'thinking';
/** `opaque`: comes whole, on a line of its own. */
export type BlockKind = TextKind | 'call' | 'opaque';

/** One block of an open answer: what is known of it, and what of that was emitted. */
export class OpenBlock {
  readonly name: string;
  readonly kind: BlockKind;
  readonly callId: string | null;
  text = '';
  /** The endpoint has sent all of it. */
  isStopped = false;
  /** Its line has come, or none will come. */
  isSettled = false;
  #isBlank = true;
  /** It was emitted as `block_started`. */
  #isEmitted = false;

  constructor(name: string, kind: BlockKind, callId: string | null) {
    this.name = name;
    this.kind = kind;
    this.callId = callId;
  }

  /** White space only, or nothing. The program keeps such a text and prints no line for it. */
  get isBlank(): boolean {
    return this.#isBlank;
  }

  /** It is over, and has no line. */
  get isUnprinted(): boolean {
    return this.kind === 'text' && this.#isBlank && this.isStopped;
  }

  /** More of it, which is emitted where `isEmitted`. Of calls and opaque blocks nothing is kept: their lines have everything. */
  grow(key: string, text: string, isEmitted: boolean): ProgramEvent[] {
    const { name: block, kind } = this;
    if (kind !== 'text' && kind !== 'thinking') return [];
    this.text += text;
    this.#isBlank &&= isWhiteSpace(text);
    if (!isEmitted || text === '') return [];
    return this.#isEmitted ? [{ type: 'block_delta', key, block, text }] : this.catchUp(key);
  }

  /** All that has grown, if nothing of it was emitted. */
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

  /** It is whole as it has grown. */
  end(key: string): ProgramEvent[] {
    const { name: block, kind, text } = this;
    if (kind !== 'text' && kind !== 'thinking') return [];
    return [{ type: 'block_ended', key, block, content: toContent(kind, text) }];
  }
}

/** The signature of a thinking block is for the model that made it, and only the program talks to that. */
export function toContent(kind: TextKind, text: string): AssistantBlock {
  return kind === 'text' ? { type: 'text', text } : { type: 'thinking', thinking: text, signature: '' };
}

function isWhiteSpace(text: string): boolean {
  return !/\S/u.test(text);
}

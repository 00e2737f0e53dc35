import { programLimits } from '../../limits.ts';
import type { ProgramEvent } from '../../program.ts';
import { MAIN } from '../../program.ts';

/** Text and thoughts of one agent. ACP has no end of a block: one is whole when another one, a call or the end of the turn comes. */
export class GrowingText {
  #count = 0;
  #open:
    | { readonly block: string; readonly kind: Kind; readonly messageId: string | undefined; text: string }
    | undefined;

  /** Whether a chunk continues the block that is open. */
  isOpen(kind: Kind, messageId: string | undefined): boolean {
    return this.#open?.kind === kind && this.#open.messageId === messageId;
  }

  grow(kind: Kind, messageId: string | undefined, text: string): readonly ProgramEvent[] {
    const events: ProgramEvent[] = [];
    if (!this.isOpen(kind, messageId)) {
      events.push(...this.end());
      this.#open = { block: `block_${++this.#count}`, kind, messageId, text: '' };
      events.push({ key: MAIN, type: 'block_started', block: this.#open.block, kind });
    }
    const open = this.#open!;
    open.text += text;
    events.push({ key: MAIN, type: 'block_delta', block: open.block, text });
    // What follows is a block of its own.
    if (open.text.length >= programLimits.acpBlockCharsMax) events.push(...this.end());
    return events;
  }

  /** The block is whole. */
  end(): readonly ProgramEvent[] {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return [];
    const { block, kind, text } = open;
    const content = kind === 'text' ? ({ type: 'text', text } as const) : { type: kind, thinking: text, signature: '' };
    return [{ key: MAIN, type: 'block_ended', block, content }];
  }
}

type Kind = 'text' | 'thinking';

import { programLimits } from '../../limits.ts';
import type { ProgramEvent } from '../../program.ts';
import { MAIN } from '../../program.ts';

/** Text and thinking blocks of one agent. ACP does not report the end of a block: it ends with the next block, a call or the end of the turn. */
export class GrowingText {
  #count = 0;
  #open:
    | { readonly block: string; readonly kind: Kind; readonly messageId: string | undefined; text: string }
    | undefined;

  /** Whether a chunk continues the open block. */
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
    // Further text becomes a block of its own.
    if (open.text.length >= programLimits.acpBlockCharsMax) events.push(...this.end());
    return events;
  }

  /** Ends the open block. */
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

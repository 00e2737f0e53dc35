import { deriveId, deriveSignature } from './digest.ts';
import type { Step } from './script.ts';
import { splitJson, splitText } from './split-text.ts';
import type { BlockDelta, ContentBlock } from './wire.ts';

/** A step that becomes a content block. */
export type BlockStep = Extract<Step, { type: 'think' | 'say' } | { type: 'call' }>;

export interface PlannedBlock {
  readonly whole: ContentBlock;
  /** The block as it starts: its content comes in deltas. */
  readonly start: ContentBlock;
  readonly deltas: readonly { readonly afterMs: number; readonly delta: BlockDelta }[];
}

/** The block that a step becomes, and the pieces in which it arrives. `seed` and `index` make its id or signature. */
export function planBlock(step: BlockStep, index: number, seed: string): PlannedBlock {
  if (step.type === 'call') return planCall(step, deriveId('toolu', seed, String(index)));
  const { text, everyMs } = step;
  const pieces = splitText(text, step.chunks).map((piece, at) => ({ piece, afterMs: at === 0 ? 0 : everyMs }));
  if (step.type === 'say') {
    return {
      whole: { type: 'text', text, citations: null },
      start: { type: 'text', text: '', citations: null },
      deltas: pieces.map(({ piece, afterMs }) => ({ afterMs, delta: { type: 'text_delta', text: piece } })),
    };
  }
  const signature = deriveSignature(seed, String(index), text);
  const thoughts = pieces.map(({ piece, afterMs }) => {
    return { afterMs, delta: { type: 'thinking_delta' as const, thinking: piece } };
  });
  return {
    whole: { type: 'thinking', thinking: text, signature },
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [...thoughts, { afterMs: 0, delta: { type: 'signature_delta', signature } }],
  };
}

function planCall({ name, input }: Extract<BlockStep, { type: 'call' }>, id: string): PlannedBlock {
  const whole = { type: 'tool_use' as const, id, name, input, caller: { type: 'direct' as const } };
  const pieces = splitJson(JSON.stringify(input));
  return {
    whole,
    start: { ...whole, input: {} },
    deltas: pieces.map((piece) => ({ afterMs: 0, delta: { type: 'input_json_delta', partial_json: piece } })),
  };
}

import { deriveId, deriveSignature } from '../digest.ts';
import type { Step } from '../script/script.ts';
import { splitJson, splitText } from './split-text.ts';
import type { BlockDelta, ContentBlock } from '../wire.ts';

/** A step that becomes a content block. */
export type BlockStep = Extract<Step, { type: 'think' | 'say' } | { type: 'call' }>;

/** A content block with the events that stream it. */
export interface PlannedBlock {
  /** The block in its start event: its content follows in deltas. */
  readonly start: ContentBlock;
  /** Characters of the whole block, for counting tokens. */
  readonly chars: number;
  /** Wait before every delta but the first. */
  readonly everyMs: number;
  readonly pieces: readonly string[];
  readonly toDelta: (piece: string) => BlockDelta;
  /** The delta after the pieces. */
  readonly last?: BlockDelta;
}

/** The block of a step, and its streamed pieces. Its id or signature is derived from `seed` and `index`. */
export function* planBlock(step: BlockStep, index: number, seed: string): Generator<void, PlannedBlock> {
  if (step.type === 'call') return yield* planCall(step, deriveId('toolu', seed, String(index)));
  const { text, everyMs } = step;
  const common = { chars: text.length, everyMs, pieces: yield* splitText(text, step.chunks) };
  if (step.type === 'say') {
    return {
      ...common,
      start: { type: 'text', text: '', citations: null },
      toDelta: (piece) => ({ type: 'text_delta', text: piece }),
    };
  }
  return {
    ...common,
    start: { type: 'thinking', thinking: '', signature: '' },
    toDelta: (piece) => ({ type: 'thinking_delta', thinking: piece }),
    last: { type: 'signature_delta', signature: deriveSignature(seed, String(index), text) },
  };
}

function* planCall({ name, input }: Extract<BlockStep, { type: 'call' }>, id: string): Generator<void, PlannedBlock> {
  const json = JSON.stringify(input);
  yield;
  return {
    start: { type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } },
    chars: name.length + json.length,
    everyMs: 0,
    pieces: yield* splitJson(json),
    toDelta: (piece) => ({ type: 'input_json_delta', partial_json: piece }),
  };
}

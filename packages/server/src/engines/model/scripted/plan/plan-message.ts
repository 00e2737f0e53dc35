import { Stride } from '../../../../base/in-slices.ts';
import type { Conversation } from '../request/conversation.ts';
import { countTokens, toTokens } from '../request/count-tokens.ts';
import { deriveId } from '../digest.ts';
import { limits } from '../limits.ts';
import { InvalidInput } from '../script/invalid-input.ts';
import type { PlanItem } from './plan.ts';
import { toRefusal } from './plan-refusal.ts';
import { type BlockStep, type PlannedBlock, planBlock } from './plan-block.ts';
import type { ClaimedUsage, Step, Turn } from '../script/script.ts';
import type { Message, MessagesEvent, PingEvent, StopReason, Usage } from '../wire.ts';

/** The input of a planned message. */
export interface MessageInput {
  /** At most one cut or failure, at the end. */
  steps: Turn;
  /** The seed of ids and signatures. */
  seed: string;
  asked: Conversation;
  usage: ClaimedUsage;
  requestId: string;
}

/** The events of one message, from message_start to message_stop or to where the script cuts or fails it. */
export function* planMessage({
  steps,
  seed,
  asked,
  usage: claimed,
  requestId,
}: MessageInput): Generator<void, readonly PlanItem[]> {
  const stride = new Stride();
  const blocks = yield* planBlocks(steps, seed);
  const usage = toUsage(asked, blocks, claimed);
  const items: PlanItem[] = [];
  let waitMs = 0;
  let index = 0;

  add({ type: 'message_start', message: toMessage(asked, seed, { ...usage, output_tokens: 1 }) });
  if (blocks.length === 0) add({ type: 'ping' });
  for (const step of steps) {
    if (step.type === 'sleep') waitMs += step.ms;
    if (step.type === 'cut' || step.type === 'fail') {
      const failure = step.type === 'cut' ? { type: step.type } : toRefusal({ ...step, requestId });
      items.push({ type: 'failure', afterMs: waitMs, failure });
      return items;
    }
    const block = isBlockStep(step) ? blocks[index] : undefined;
    if (block !== undefined) yield* addBlock(block);
  }
  add(toMessageDelta(steps, asked, usage));
  add({ type: 'message_stop' });
  return items;

  function add(event: MessagesEvent | PingEvent, afterMs = 0): void {
    items.push({ type: 'event', afterMs: waitMs + afterMs, event });
    waitMs = 0;
  }

  function* addBlock({ start, pieces, everyMs, toDelta, last }: PlannedBlock): Generator<void, void> {
    add({ type: 'content_block_start', index, content_block: start });
    // The real API sends a ping at this position.
    if (index === 0) add({ type: 'ping' });
    for (const [at, piece] of pieces.entries()) {
      add({ type: 'content_block_delta', index, delta: toDelta(piece) }, at === 0 ? 0 : everyMs);
      if (stride.isOver()) yield;
    }
    if (last !== undefined) add({ type: 'content_block_delta', index, delta: last });
    add({ type: 'content_block_stop', index });
    index += 1;
  }
}

/** Plans the blocks. Throws at the first block above a limit, so that a script cannot fill the memory. */
function* planBlocks(steps: Turn, seed: string): Generator<void, PlannedBlock[]> {
  const blocks: PlannedBlock[] = [];
  let chars = 0;
  let events = FRAME_EVENTS;
  for (const step of steps.filter(isBlockStep)) {
    const block = yield* planBlock(step, blocks.length, seed);
    chars += block.chars;
    events += BLOCK_EVENTS + block.pieces.length + (block.last === undefined ? 0 : 1);
    if (chars > limits.answerCharsMax) throw tooMuch('characters', limits.answerCharsMax);
    if (events > limits.eventsMax) throw tooMuch('events', limits.eventsMax);
    blocks.push(block);
    yield;
  }
  return blocks;
}

/** message_start, ping, message_delta and message_stop; start and stop of a block. */
const FRAME_EVENTS = 4;
const BLOCK_EVENTS = 2;

function tooMuch(what: string, max: number): InvalidInput {
  return new InvalidInput('', `the answer has more than ${max} ${what}`);
}

function isBlockStep(step: Step): step is BlockStep {
  return step.type === 'think' || step.type === 'say' || step.type === 'call';
}

function toMessage({ model }: Conversation, seed: string, usage: Usage): Message {
  return {
    id: deriveId('msg', seed),
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage,
  };
}

function toUsage(asked: Conversation, blocks: readonly PlannedBlock[], claimed: ClaimedUsage): Usage {
  return {
    input_tokens: claimed.input_tokens ?? countTokens(asked),
    cache_creation_input_tokens: claimed.cache_creation_input_tokens ?? 0,
    cache_read_input_tokens: claimed.cache_read_input_tokens ?? 0,
    cache_creation: null,
    output_tokens: claimed.output_tokens ?? toTokens(blocks.reduce((chars, block) => chars + block.chars, 0)),
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
    speed: null,
  };
}

function toMessageDelta(steps: Turn, { stopSequences }: Conversation, usage: Usage): MessagesEvent {
  const reason = toStopReason(steps);
  return {
    type: 'message_delta',
    delta: {
      stop_reason: reason,
      stop_sequence: reason === 'stop_sequence' ? (stopSequences[0] ?? null) : null,
      stop_details: reason === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
      container: null,
    },
    usage: {
      input_tokens: usage.input_tokens,
      cache_creation_input_tokens: usage.cache_creation_input_tokens,
      cache_read_input_tokens: usage.cache_read_input_tokens,
      output_tokens: usage.output_tokens,
      output_tokens_details: usage.output_tokens_details,
      server_tool_use: usage.server_tool_use,
    },
  };
}

/** The last `stop` of the turn, otherwise derived from the blocks. */
function toStopReason(steps: Turn): StopReason {
  const stop = steps.findLast((step) => step.type === 'stop');
  if (stop !== undefined) return stop.reason;
  return steps.some(({ type }) => type === 'call') ? 'tool_use' : 'end_turn';
}

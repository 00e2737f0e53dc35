import type { Conversation } from './conversation.ts';
import { answerCharsOf, countAnswerTokens, countTokens } from './count-tokens.ts';
import { deriveId } from './digest.ts';
import { limits } from './limits.ts';
import { Misfit } from './misfit.ts';
import type { PlanItem } from './plan.ts';
import { type BlockStep, type PlannedBlock, planBlock } from './plan-block.ts';
import type { ClaimedUsage, Step, Turn } from './script.ts';
import type { Message, MessagesEvent, PingEvent, StopReason, Usage } from './wire.ts';

export interface MessageInput {
  /** No failing step, and at most one cut, at the end. */
  steps: Turn;
  /** What ids and signatures are made from. */
  seed: string;
  asked: Conversation;
  usage: ClaimedUsage;
}

/** The events of one message, from message_start to message_stop or to where the script cuts it. */
export function planMessage({ steps, seed, asked, usage: claimed }: MessageInput): PlanItem[] {
  const blocks = planBlocks(steps, seed);
  const usage = toUsage(asked, blocks, claimed);
  const items: PlanItem[] = [];
  let waitMs = 0;
  let index = 0;

  add({ type: 'message_start', message: toMessage(asked, seed, { ...usage, output_tokens: 1 }) });
  if (blocks.length === 0) add({ type: 'ping' });
  for (const step of steps) {
    if (step.type === 'sleep') waitMs += step.ms;
    if (step.type === 'cut') return [...items, { type: 'failure', afterMs: waitMs, failure: { type: 'cut' } }];
    const block = isBlockStep(step) ? blocks[index] : undefined;
    if (block !== undefined) addBlock(block);
  }
  add(toMessageDelta(steps, asked, usage));
  add({ type: 'message_stop' });
  return items;

  function add(event: MessagesEvent | PingEvent, afterMs = 0): void {
    items.push({ type: 'event', afterMs: waitMs + afterMs, event });
    waitMs = 0;
  }

  function addBlock({ start, deltas }: PlannedBlock): void {
    add({ type: 'content_block_start', index, content_block: start });
    // Where the real API has its first sign of life.
    if (index === 0) add({ type: 'ping' });
    for (const { afterMs, delta } of deltas) add({ type: 'content_block_delta', index, delta }, afterMs);
    add({ type: 'content_block_stop', index });
    index += 1;
  }
}

/** Stops at the first block that is too much, so that no script can make the process hold more than one answer. */
function planBlocks(steps: Turn, seed: string): PlannedBlock[] {
  const blocks: PlannedBlock[] = [];
  let chars = 0;
  let events = FRAME_EVENTS;
  for (const step of steps.filter(isBlockStep)) {
    const block = planBlock(step, blocks.length, seed);
    chars += answerCharsOf(block.whole);
    events += BLOCK_EVENTS + block.deltas.length;
    if (chars > limits.answerCharsMax) throw tooMuch('characters', limits.answerCharsMax);
    if (events > limits.eventsMax) throw tooMuch('events', limits.eventsMax);
    blocks.push(block);
  }
  return blocks;
}

/** message_start, ping, message_delta and message_stop; start and stop of a block. */
const FRAME_EVENTS = 4;
const BLOCK_EVENTS = 2;

function tooMuch(what: string, max: number): Misfit {
  return new Misfit('', `the answer has more than ${max} ${what}`);
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
    output_tokens: claimed.output_tokens ?? countAnswerTokens(blocks.map(({ whole }) => whole)),
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

/** The last `stop` of the turn, else what the blocks say. */
function toStopReason(steps: Turn): StopReason {
  const told = steps.findLast((step) => step.type === 'stop');
  if (told !== undefined) return told.reason;
  return steps.some(({ type }) => type === 'call') ? 'tool_use' : 'end_turn';
}

import { wholeCharacters } from './random-text.ts';
import { type Block, type GeneratedStream, StreamWriter } from './stream-writer.ts';

export type { GeneratedStream } from './stream-writer.ts';

interface Sizes {
  seed?: number;
  messages?: number;
  /** Characters per block. */
  length?: number;
  /** Share of pieces that are not ASCII. */
  unicode?: number;
}

interface InterleavedOptions extends Sizes {
  agents?: number;
  /** Blocks per message. */
  blocks?: number;
  mode?: 'growing' | 'one-block';
  withId?: boolean;
  withParent?: boolean;
  /** Whether all agents begin with the same 80 characters, which first-block fingerprints mistake for one agent. */
  sameOpening?: boolean;
}

/** (a) The format of current programs: one finished block per line, the blocks of a message share its id. */
export function oneBlockPerLine({
  messages = 1_000,
  blocks = 3,
  length = 300,
  unicode = 0.02,
  seed = 1,
  ids = 'shared',
}: Sizes & { blocks?: number; ids?: 'shared' | 'unique' | 'none' } = {}): GeneratedStream {
  const stream = new StreamWriter(seed, ids !== 'none');
  for (let message = 0; message < messages; message++) {
    const messageId = stream.random.id('msg_01');
    const calls: string[] = [];
    for (let index = 0; index < blocks; index++) {
      const block = stream.block(index, length, unicode);
      const [id, place] = ids === 'unique' ? [`${messageId}${index}`, 0] : [messageId, index];
      stream.expect(null, id, place, block);
      stream.assistant(id, [block], null, index + 1);
      if (block.type === 'tool_use') calls.push(block.id);
    }
    for (const call of calls) stream.toolResult(call, stream.random.prose(length, unicode), null);
  }
  return stream.end();
}

/**
 * (b) Growing snapshots, as older documentation describes them: each line repeats the message so far. If blocks grow in place
 * the lines have no uuid: with one, the first lines of a stream would each be a block of its own.
 */
export function growingSnapshots({
  messages = 3,
  blocks = 200,
  length = 300,
  /** The number of lines in which each block becomes complete. */
  growSteps = 1,
  unicode = 0.02,
  seed = 2,
  withId = true,
} = {}): GeneratedStream {
  const stream = new StreamWriter(seed, withId);
  const withUuid = growSteps === 1;
  for (let message = 0; message < messages; message++) {
    const messageId = stream.random.id('msg_01');
    const content: Block[] = [];
    for (let index = 0; index < blocks; index++) {
      const block = stream.block(index, length, unicode);
      stream.expect(null, messageId, index, block);
      for (const unfinished of beginnings(block, growSteps)) {
        stream.assistant(messageId, [...content, unfinished], null, index + 1, { withUuid });
      }
      content.push(block);
      stream.assistant(messageId, content, null, index + 1, { withUuid });
    }
  }
  return stream.end();
}

/** (b3) One text block that grows in place. Its lines have no uuid: with one, each would be a block of its own. */
export function growingText({ total = 60_000, step = 60, unicode = 0.02, seed = 3 } = {}): GeneratedStream {
  const stream = new StreamWriter(seed);
  const messageId = stream.random.id('msg_01');
  const text = stream.random.prose(total, unicode);
  stream.expect(null, messageId, 0, { type: 'text', text });
  for (let length = step; length < text.length + step; length += step) {
    const soFar: Block = { type: 'text', text: text.slice(0, wholeCharacters(text, length)) };
    stream.assistant(messageId, [soFar], null, length, { withUuid: false });
  }
  return stream.end();
}

/** (c) and, with `mode: 'one-block'`, (c1): sub-agents that print at the same time, in random turns. */
export function interleavedAgents({
  agents = 25,
  messages = 4,
  blocks = 12,
  length = 300,
  unicode = 0.02,
  seed = 4,
  mode = 'growing',
  withId = true,
  withParent = true,
  sameOpening = false,
}: InterleavedOptions = {}): GeneratedStream {
  const stream = new StreamWriter(seed, withId);
  const calls = spawnAgents(stream, agents, mode);
  const opening = sameOpening ? stream.random.prose(80) : '';
  const live = calls.map((call) => ({
    call,
    messageId: stream.random.id('msg_01'),
    message: 0,
    content: [] as Block[],
  }));
  while (live.length > 0) {
    const turn = stream.random.below(live.length);
    const agent = live[turn]!;
    const parent = withParent ? agent.call : null;
    const index = agent.content.length;
    // Text first, so that the openings can be alike.
    const block = stream.block(index + 1, length, unicode);
    if (index === 0 && block.type === 'text') block.text = opening + block.text;
    stream.expect(agent.call, agent.messageId, index, block);
    agent.content.push(block);
    stream.assistant(agent.messageId, mode === 'growing' ? agent.content : [block], parent, index + 1);
    if (block.type === 'tool_use') stream.toolResult(block.id, stream.random.prose(length, unicode), parent);
    if (agent.content.length < blocks) continue;
    agent.message++;
    agent.messageId = stream.random.id('msg_01');
    agent.content = [];
    if (agent.message < messages) continue;
    stream.toolResult(agent.call, [{ type: 'text', text: stream.random.prose(length, unicode) }], null);
    live.splice(turn, 1);
  }
  return stream.end();
}

/** (d) Few lines, but long ones. */
export function largeResults({ count = 20, size = 1 << 20, unicode = 0, seed = 5 } = {}): GeneratedStream {
  const stream = new StreamWriter(seed);
  for (let result = 0; result < count; result++) {
    const messageId = stream.random.id('msg_01');
    const call = stream.call(200, 0);
    stream.expect(null, messageId, 0, call);
    stream.assistant(messageId, [call], null, 1);
    stream.toolResult(call.id, stream.random.prose(size, unicode), null);
  }
  return stream.end();
}

/** (e) Partial messages: every block in small deltas, and once more as a whole line before it is closed. */
export function partialMessages({
  messages = 50,
  blocks = 3,
  length = 600,
  /** Characters per delta. */
  step = 12,
  unicode = 0.02,
  seed = 6,
} = {}): GeneratedStream {
  const stream = new StreamWriter(seed);
  for (let message = 0; message < messages; message++) {
    const messageId = stream.random.id('msg_01');
    stream.event({ type: 'message_start', message: stream.message(messageId, [], 1) });
    for (let index = 0; index < blocks; index++) {
      const block = stream.block(index, length, unicode);
      stream.expect(null, messageId, index, block);
      stream.event({ type: 'content_block_start', index, content_block: emptied(block) });
      for (const delta of deltas(block, step)) stream.event({ type: 'content_block_delta', index, delta });
      stream.assistant(messageId, [block], null, 1);
      stream.event({ type: 'content_block_stop', index });
    }
    const delta = { stop_reason: 'tool_use', stop_sequence: null };
    stream.event({ type: 'message_delta', delta, usage: { output_tokens: 90 } });
    stream.event({ type: 'message_stop' });
  }
  return stream.end();
}

/** The bytes of a stream, as they would come through a pipe. */
export function toBytes({ lines }: GeneratedStream): Uint8Array {
  return new TextEncoder().encode(`${lines.join('\n')}\n`);
}

/** The main agent's calls that start the sub-agents. */
function spawnAgents(stream: StreamWriter, agents: number, mode: 'growing' | 'one-block'): string[] {
  const messageId = stream.random.id('msg_01');
  const calls = Array.from({ length: agents }, (_, index) => {
    const id = stream.random.id('toolu_01');
    const input = {
      description: `thread ${index}`,
      prompt: stream.random.prose(120),
      subagent_type: 'general-purpose',
    };
    const call = { type: 'tool_use' as const, id, name: 'Agent', input };
    stream.expect(null, messageId, index, call);
    if (mode === 'one-block') stream.assistant(messageId, [call], null, 1);
    return call;
  });
  if (mode === 'growing') stream.assistant(messageId, calls, null, 1);
  return calls.map(({ id }) => id);
}

/** The incomplete forms of a block. Tool calls arrive only as a whole. */
function beginnings(block: Block, steps: number): Block[] {
  if (block.type === 'tool_use') return [];
  const text = block.type === 'text' ? block.text : block.thinking;
  return Array.from({ length: steps - 1 }, (_, step) => {
    const beginning = text.slice(0, wholeCharacters(text, Math.ceil((text.length * (step + 1)) / steps)));
    return block.type === 'text' ? { ...block, text: beginning } : { ...block, thinking: beginning };
  });
}

function emptied(block: Block): Block {
  if (block.type === 'tool_use') return { ...block, input: {} };
  return block.type === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' };
}

function* deltas(block: Block, step: number): Generator<object> {
  const whole =
    block.type === 'tool_use' ? JSON.stringify(block.input) : block.type === 'text' ? block.text : block.thinking;
  for (let start = 0; start < whole.length; ) {
    // Two units at least, so that a surrogate pair always fits.
    const end = wholeCharacters(whole, start + Math.max(step, 2));
    const piece = whole.slice(start, end);
    start = end;
    if (block.type === 'tool_use') yield { type: 'input_json_delta', partial_json: piece };
    else if (block.type === 'text') yield { type: 'text_delta', text: piece };
    else yield { type: 'thinking_delta', thinking: piece };
  }
}

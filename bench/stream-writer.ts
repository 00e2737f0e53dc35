import { RandomText } from './random-text.ts';

/** A stream in the format of Claude Code, and the expected result of a translator. */
export interface GeneratedStream {
  lines: string[];
  /** Every content block once and every tool result once, in the order in which they become known. */
  blocks: OracleBlock[];
  toolResults: string[];
}

export interface OracleBlock {
  /** The call that spawned the agent; null for the main agent. */
  agent: string | null;
  messageId: string;
  index: number;
  kind: 'text' | 'thinking' | 'tool_use';
  /** The final text; for a tool call its id. */
  text: string;
}

export type Block =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> };

const SESSION_ID = 'c0ffee00-1234-4abc-8def-0123456789ab';
const MODEL = 'claude-opus-4-8';

/** Writes lines in the format and key order of Claude Code 2.1.197, and records their content. */
export class StreamWriter {
  readonly random: RandomText;
  readonly #withId: boolean;
  readonly #stream: GeneratedStream = { lines: [], blocks: [], toolResults: [] };

  constructor(seed: number, withId = true) {
    this.random = new RandomText(seed);
    this.#withId = withId;
    this.#line({
      type: 'system',
      subtype: 'init',
      cwd: '/home/user/loom',
      session_id: SESSION_ID,
      tools: ['Task', 'Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Write'],
      mcp_servers: [],
      model: MODEL,
      permissionMode: 'default',
      slash_commands: ['clear', 'compact'],
      apiKeySource: 'none',
      claude_code_version: '2.1.197',
      output_style: 'default',
      agents: ['general-purpose'],
      uuid: this.random.uuid(),
    });
  }

  /** Thinking, text and tool call in turn. */
  block(turn: number, length: number, unicode: number): Block {
    const { random } = this;
    if (turn % 3 === 2) return this.call(length, unicode);
    const text = random.prose(length, unicode);
    return turn % 3 === 1
      ? { type: 'text', text }
      : { type: 'thinking', thinking: text, signature: random.id('Er', 60) };
  }

  call(length: number, unicode: number): Block & { type: 'tool_use' } {
    const { random } = this;
    const input = { command: random.prose(Math.ceil(length / 2), unicode), description: random.prose(40) };
    return { type: 'tool_use', id: random.id('toolu_01'), name: random.pick(['Bash', 'Edit']), input };
  }

  message(messageId: string, content: Block[], outputTokens: number): object {
    if (!this.#withId) return { role: 'assistant', content };
    const usage = {
      input_tokens: 6,
      cache_creation_input_tokens: 440,
      cache_read_input_tokens: 21_760,
      output_tokens: outputTokens,
      service_tier: 'standard',
    };
    const role = { type: 'message', role: 'assistant' };
    return { model: MODEL, id: messageId, ...role, content, stop_reason: null, stop_sequence: null, usage };
  }

  assistant(id: string, content: Block[], parent: string | null, tokens: number, { withUuid = true } = {}): void {
    this.#line({
      type: 'assistant',
      message: this.message(id, content, tokens),
      parent_tool_use_id: parent,
      session_id: SESSION_ID,
      ...(withUuid && { uuid: this.random.uuid() }),
    });
  }

  toolResult(toolUseId: string, content: unknown, parent: string | null): void {
    this.#stream.toolResults.push(toolUseId);
    const result = { tool_use_id: toolUseId, type: 'tool_result', content, is_error: false };
    this.#line({
      type: 'user',
      message: { role: 'user', content: [result] },
      parent_tool_use_id: parent,
      session_id: SESSION_ID,
      uuid: this.random.uuid(),
    });
  }

  event(event: object): void {
    const uuid = this.random.uuid();
    this.#line({ type: 'stream_event', event, session_id: SESSION_ID, parent_tool_use_id: null, uuid });
  }

  expect(agent: string | null, messageId: string, index: number, block: Block): void {
    const text = block.type === 'text' ? block.text : block.type === 'thinking' ? block.thinking : block.id;
    this.#stream.blocks.push({ agent, messageId, index, kind: block.type, text });
  }

  end(): GeneratedStream {
    const tokens = { inputTokens: 900, outputTokens: 210, cacheReadInputTokens: 21_760, cacheCreationInputTokens: 440 };
    this.#line({
      type: 'result',
      subtype: 'success',
      is_error: false,
      duration_ms: 9_400,
      duration_api_ms: 9_100,
      num_turns: 4,
      result: 'All threads are woven.',
      stop_reason: 'end_turn',
      session_id: SESSION_ID,
      total_cost_usd: 0.021,
      usage: { input_tokens: 6, output_tokens: 210, cache_read_input_tokens: 21_760, cache_creation_input_tokens: 440 },
      modelUsage: { [MODEL]: { ...tokens, webSearchRequests: 0, costUSD: 0.021, contextWindow: 200_000 } },
      permission_denials: [],
      uuid: this.random.uuid(),
    });
    return this.#stream;
  }

  #line(message: object): void {
    this.#stream.lines.push(JSON.stringify(message));
  }
}

import { cutText } from '@fleetloom/protocol/fleet';
import { limits } from '../base/limits.ts';
import { classifyPrompt } from './classify-prompt.ts';
import { MAIN, type Outcome, type Step, type StepEvent, type StepUsage } from './step.ts';
import { toAnswer, toResult, toSaid } from './to-blocks.ts';
import { toText, type TranscriptMessage, type TranscriptRecord } from './transcript-record.ts';

/** The metadata file of a sub-agent. */
export interface AgentMeta {
  readonly agentType: string | null;
  readonly description: string | null;
  readonly callId: string | null;
  readonly parentId: string | null;
}

/** A tool call without a result so far. */
export interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

interface Agent {
  readonly key: string;
  readonly meta: AgentMeta | null;
  line: number;
  time: string;
  /** Whether a turn or run is open. */
  isOpen: boolean;
  isKnown: boolean;
  /** The model request whose response is being read. */
  request: { messageId: string; model: string; usage: StepUsage; stopReason: string | null } | null;
  /** The message id of the last model request that ended. */
  answered: string | null;
  /** Open tool calls by id. */
  readonly openCalls: Map<string, OpenCall>;
  /** Whether the last message of the agent ended the turn. */
  isDone: boolean;
  /** A typed command that has not started a turn yet. */
  command: string | null;
}

/**
 * Translates lines of session files into steps. The files do not record the end of a turn: a turn has ended when the model
 * has finished and another line follows, or no line follows for a while.
 */
export class TranscriptTranslator {
  readonly #agents = new Map<string, Agent>();
  /** The caller of each tool call, and the agent it started. */
  readonly #callers = new Map<string, string>();
  readonly #children = new Map<string, Agent>();
  #out: Step[] = [];

  /** Takes the next line of an agent's file; `main` is the main agent. Lines must be passed in order. */
  take(key: string, meta: AgentMeta | null, record: TranscriptRecord | undefined): Step[] {
    const agent = this.#agents.get(key) ?? this.#meet(key, meta);
    if (record === undefined || (key === MAIN && record.isSidechain)) agent.line++;
    else this.#read(agent, record);
    return this.#give();
  }

  /** Ends the turns of agents that have finished and have been silent for a while. */
  rest(keys: Iterable<string> = this.#agents.keys()): Step[] {
    for (const key of keys) {
      const agent = this.#agents.get(key);
      if (agent?.isDone === true) this.#end(agent);
    }
    return this.#give();
  }

  listOpenCalls(key: string): readonly OpenCall[] {
    return [...(this.#agents.get(key)?.openCalls.values() ?? [])];
  }

  #read(agent: Agent, record: TranscriptRecord): void {
    const { type, message } = record;
    const isNew = type === 'assistant' && message.id !== (agent.request?.messageId ?? agent.answered);
    const isOver = type === 'user' || isNew || record.isError;
    // The end of a turn belongs to the line before.
    if (isOver && agent.isDone) this.#end(agent);
    else if (isOver) this.#endRequest(agent);
    agent.line++;
    // Notes of the program may arrive much later than the events they describe.
    if (spoken.has(type)) agent.time = record.time ?? agent.time;
    if (type === 'assistant' && record.isError) this.#fail(agent, message);
    else if (type === 'assistant') this.#answer(agent, message);
    else if (type === 'user') this.#user(agent, record);
    else if (type === 'system' && record.subtype === 'compact_boundary') this.#emit(agent, { type: 'compacted' });
  }

  #answer(agent: Agent, message: TranscriptMessage): void {
    this.#open(agent);
    const { id = 'unknown', model = 'unknown', usage, stopReason } = message;
    if (agent.request === null) this.#emit(agent, { type: 'request_started', model });
    agent.request = {
      messageId: id,
      model,
      // A result may arrive before the last line of the message that made the call; its usage was already reported.
      usage: agent.request === null && id === agent.answered ? noUsage : usage,
      stopReason: stopReason ?? agent.request?.stopReason ?? null,
    };
    for (const block of message.blocks) {
      if (block.type === 'tool_use') this.#call(agent, block);
      else {
        const content = toAnswer(block);
        if (content !== undefined) this.#emit(agent, { type: 'block', content });
      }
    }
    agent.isDone = agent.openCalls.size === 0 && finalReasons.has(agent.request.stopReason ?? '');
  }

  #call(agent: Agent, { id, name, input }: { readonly [field: string]: unknown }): void {
    if (typeof id !== 'string' || typeof name !== 'string' || id === '' || name === '') return;
    agent.openCalls.set(id, { id, name, input: input ?? {} });
    this.#callers.set(id, agent.key);
    this.#emit(agent, {
      type: 'call',
      call_id: id,
      name: cutText(name, limits.importNameCharsMax),
      input: input ?? {},
    });
  }

  #user(agent: Agent, record: TranscriptRecord): void {
    const results = record.message.blocks.filter(({ type }) => type === 'tool_result');
    if (results.length > 0) for (const result of results) this.#result(agent, result, record);
    else if (record.isSummary || record.isMeta) return;
    else if (agent.key === MAIN) this.#said(agent, record);
    else this.#addMessage(agent, record.message);
  }

  #result(agent: Agent, block: { readonly [field: string]: unknown }, { result }: TranscriptRecord): void {
    const callId = toText(block['tool_use_id']) ?? '';
    if (!agent.openCalls.delete(callId)) return;
    const isError = block['is_error'] === true;
    const child = this.#children.get(callId);
    // A background agent has only started.
    const isLaunch = result['status'] === 'async_launched' || result['isAsync'] === true;
    if (child?.isOpen === true && !isLaunch) this.#end(child, isError ? 'stopped' : 'completed');
    this.#emit(agent, { type: 'result', call_id: callId, content: toResult(block['content']), is_error: isError });
  }

  #said(agent: Agent, { message }: TranscriptRecord): void {
    const prompt = classifyPrompt(message.blocks);
    if (prompt.type === 'interrupt') this.#close(agent, { type: 'stopped' });
    else if (prompt.type === 'command') agent.command = prompt.text;
    else if (prompt.type === 'prompt') this.#say(agent, toSaid(message.blocks));
  }

  #say(agent: Agent, content: ReturnType<typeof toSaid>): void {
    if (content.length === 0) return;
    agent.command = null;
    agent.isOpen = true;
    this.#emit(agent, { type: 'said', content });
  }

  /** Adds a message to a sub-agent: its task, or a new task after it has ended. */
  #addMessage(agent: Agent, { blocks }: TranscriptMessage): void {
    const prompt = blocks.flatMap((block) => (typeof block['text'] === 'string' ? [block['text']] : [])).join('\n');
    if (!agent.isKnown) return this.#introduce(agent, prompt);
    if (agent.isOpen) return;
    agent.isOpen = true;
    this.#emit(agent, { type: 'thread_started', prompt });
  }

  /** Starts a turn if none is open. */
  #open(agent: Agent): void {
    if (!agent.isKnown) return this.#introduce(agent, null);
    if (agent.isOpen) return;
    if (agent.command !== null) return this.#say(agent, [{ type: 'text', text: agent.command }]);
    agent.isOpen = true;
    this.#emit(agent, agent.key === MAIN ? { type: 'turn_started' } : { type: 'thread_started', prompt: null });
  }

  #introduce(agent: Agent, prompt: string | null): void {
    agent.isKnown = true;
    agent.isOpen = true;
    const { agentType, description, callId, parentId } = agent.meta ?? noMeta;
    const parent = parentId ?? this.#callers.get(callId ?? '') ?? MAIN;
    this.#emit(agent, {
      type: 'thread_opened',
      // The parent never wrote a line, so it is unknown.
      parent_key: this.#agents.get(parent)?.isKnown === true ? parent : MAIN,
      agent_name: cutText(agentType ?? 'agent', limits.importNameCharsMax),
      description,
      prompt,
      call_id: callId,
    });
  }

  #fail(agent: Agent, { blocks }: TranscriptMessage): void {
    this.#open(agent);
    const message = blocks.map((block) => toText(block['text']) ?? '').join('\n') || 'the request failed';
    this.#close(agent, { type: 'failed', message });
  }

  #end(agent: Agent, status: 'completed' | 'stopped' = 'completed'): void {
    const isRefused = agent.request?.stopReason === 'refusal';
    if (isRefused) this.#close(agent, { type: 'refused', message: 'the model refused' });
    else this.#close(agent, { type: status === 'completed' ? 'done' : 'stopped' });
  }

  #close(agent: Agent, outcome: Outcome): void {
    this.#endRequest(agent);
    agent.isDone = false;
    agent.openCalls.clear();
    if (!agent.isOpen) return;
    agent.isOpen = false;
    if (agent.key === MAIN) return this.#emit(agent, { type: 'turn_ended', outcome });
    const error = 'message' in outcome ? outcome.message : null;
    const status = outcome.type === 'done' ? 'completed' : outcome.type === 'stopped' ? 'stopped' : 'failed';
    this.#emit(agent, { type: 'thread_ended', status, error });
  }

  #endRequest(agent: Agent): void {
    if (agent.request === null) return;
    const { model, usage, stopReason, messageId } = agent.request;
    agent.request = null;
    agent.answered = messageId;
    this.#emit(agent, { type: 'request_ended', model, usage, stop_reason: stopReason, is_error: false });
  }

  #meet(key: string, meta: AgentMeta | null): Agent {
    const agent: Agent = {
      key,
      meta,
      line: 0,
      time: new Date(0).toISOString(),
      isOpen: false,
      isKnown: key === MAIN,
      request: null,
      answered: null,
      openCalls: new Map(),
      isDone: false,
      command: null,
    };
    this.#agents.set(key, agent);
    if (meta?.callId) this.#children.set(meta.callId, agent);
    return agent;
  }

  #emit({ key, line, time }: Agent, event: StepEvent): void {
    this.#out.push({ key, line, time, event });
  }

  #give(): Step[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }
}

const spoken: ReadonlySet<string> = new Set(['assistant', 'user', 'system']);

/** Stop reasons that end the turn. */
const finalReasons: ReadonlySet<string> = new Set(['end_turn', 'stop_sequence', 'refusal']);

const noUsage: StepUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_5m_input_tokens: 0,
  cache_creation_1h_input_tokens: 0,
};

const noMeta: AgentMeta = { agentType: null, description: null, callId: null, parentId: null };

import { cutText } from '@fleetloom/protocol/fleet';
import { limits } from '../base/limits.ts';
import { MAIN, type Outcome, type Step, type StepEvent, type StepUsage } from './step.ts';
import type { TranscriptRecord } from './transcript-record.ts';
import type { AgentMeta, OpenCall } from './transcript-translator.ts';

/** An agent of a session, with the number of its lines that were read. */
export interface Agent {
  readonly key: string;
  readonly meta: AgentMeta | null;
  line: number;
  time: string;
  model: string;
  isKnown: boolean;
  /** Whether a turn has started that has no step yet. */
  isStarting: boolean;
  isOpen: boolean;
  isAnswering: boolean;
  /** Tool calls without a result, by id. */
  readonly openCalls: Map<string, OpenCall>;
}

/** Collects the steps of the agents of one session, and adds the starts of turns, threads and requests that no line records. */
export class AgentSteps {
  readonly #agents = new Map<string, Agent>();
  /** The call that started each thread. */
  readonly #starts = new Map<string, string>();
  #out: Step[] = [];

  /** Begins the next line of an agent. Returns the agent. */
  begin(key: string, meta: AgentMeta | null, record: TranscriptRecord | undefined): Agent {
    const agent = this.#agents.get(key) ?? this.#meet(key, meta);
    agent.line++;
    agent.time = record?.time ?? agent.time;
    return agent;
  }

  /** Returns the steps since the last call. */
  flush(): Step[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  listOpenCalls(key: string): readonly OpenCall[] {
    return [...(this.#agents.get(key)?.openCalls.values() ?? [])];
  }

  /** Notes that a call has started the thread of a sub-agent. */
  start(child: unknown, callId: string | undefined): void {
    if (typeof child === 'string' && callId !== undefined) this.#starts.set(child, callId);
  }

  /** Adds a message to the main agent. */
  say(agent: Agent, text: string): void {
    if (text === '') return;
    agent.isStarting = false;
    agent.isOpen = true;
    this.#emit(agent, { type: 'said', content: [{ type: 'text', text }] });
  }

  /** Adds a part of a response. */
  answer(agent: Agent, event: StepEvent): void {
    this.open(agent, null);
    if (!agent.isAnswering) this.#emit(agent, { type: 'request_started', model: agent.model });
    agent.isAnswering = true;
    this.#emit(agent, event);
  }

  call(agent: Agent, call: { readonly call_id: string; readonly name: string; readonly input: unknown }): void {
    const { call_id: id, name, input } = call;
    agent.openCalls.set(id, { id, name, input });
    this.answer(agent, { type: 'call', ...call });
  }

  /** Adds the result of an open call. */
  result(agent: Agent, result: Omit<Extract<StepEvent, { type: 'result' }>, 'type'>): void {
    if (agent.openCalls.delete(result.call_id)) this.#emit(agent, { type: 'result', ...result });
  }

  endRequest(agent: Agent, usage: StepUsage, isError = false): void {
    // A request that only compacts has no content, but it has token usage.
    this.open(agent, null);
    if (!agent.isAnswering) this.#emit(agent, { type: 'request_started', model: agent.model });
    agent.isAnswering = false;
    const reason = agent.openCalls.size > 0 ? 'tool_use' : 'end_turn';
    const stop_reason = isError ? null : reason;
    this.#emit(agent, { type: 'request_ended', model: agent.model, usage, stop_reason, is_error: isError });
  }

  compact(agent: Agent): void {
    if (agent.isOpen) this.#emit(agent, { type: 'compacted' });
  }

  /** Begins a turn, unless one is open. */
  open(agent: Agent, prompt: string | null): void {
    agent.isStarting = false;
    if (agent.isOpen) return;
    agent.isOpen = true;
    if (agent.key === MAIN) return this.#emit(agent, { type: 'turn_started' });
    if (agent.isKnown) return this.#emit(agent, { type: 'thread_started', prompt });
    agent.isKnown = true;
    const { agentType = null, description = null, parentId = null } = agent.meta ?? {};
    const parent = this.#agents.get(parentId ?? MAIN);
    this.#emit(agent, {
      type: 'thread_opened',
      parent_key: parent?.isKnown === true ? parent.key : MAIN,
      agent_name: cutText(agentType ?? 'agent', limits.importNameCharsMax),
      description,
      prompt,
      call_id: this.#starts.get(agent.key) ?? null,
    });
  }

  /** Ends the turn, if one is open. */
  close(agent: Agent, outcome: Outcome): void {
    agent.isStarting = false;
    if (!agent.isOpen) return;
    if (agent.isAnswering) this.endRequest(agent, noUsage, outcome.type !== 'done');
    agent.isOpen = false;
    agent.openCalls.clear();
    if (agent.key === MAIN) return this.#emit(agent, { type: 'turn_ended', outcome });
    const error = 'message' in outcome ? outcome.message : null;
    const status = outcome.type === 'done' ? 'completed' : outcome.type === 'stopped' ? 'stopped' : 'failed';
    this.#emit(agent, { type: 'thread_ended', status, error });
  }

  #meet(key: string, meta: AgentMeta | null): Agent {
    const agent: Agent = {
      key,
      meta,
      line: 0,
      time: new Date(0).toISOString(),
      model: 'unknown',
      isKnown: key === MAIN,
      isStarting: false,
      isOpen: false,
      isAnswering: false,
      openCalls: new Map(),
    };
    this.#agents.set(key, agent);
    return agent;
  }

  #emit({ key, line, time }: Agent, event: StepEvent): void {
    this.#out.push({ key, line, time, event });
  }
}

const noUsage: StepUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_5m_input_tokens: 0,
  cache_creation_1h_input_tokens: 0,
};

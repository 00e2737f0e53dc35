import { cutText } from '@fleetloom/protocol/fleet';
import { limits } from '../../base/limits.ts';
import type { StepTranslator } from '../session-format.ts';
import { MAIN, type Outcome, type Step, type StepEvent, type StepUsage } from '../step.ts';
import { toObject, toText, type TranscriptRecord } from '../transcript-record.ts';
import type { AgentMeta, OpenCall } from '../transcript-translator.ts';
import { toCall, toOutput, toTexts, toUsage } from './rollout-items.ts';

interface Agent {
  readonly key: string;
  readonly meta: AgentMeta | null;
  line: number;
  time: string;
  model: string;
  isKnown: boolean;
  /** Codex has started a turn, which has no step yet. */
  isStarting: boolean;
  isOpen: boolean;
  isAnswering: boolean;
  /** Tool calls without a result: names by id. */
  readonly openCalls: Map<string, string>;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Translates lines of rollout files into steps. Texts of people and of the model come from the items that Codex shows: the
 * messages that go to the model also have what Codex adds on its own.
 */
export class RolloutTranslator implements StepTranslator {
  readonly #agents = new Map<string, Agent>();
  /** The call that started each thread. */
  readonly #starts = new Map<string, string>();
  #out: Step[] = [];

  take(key: string, meta: AgentMeta | null, record: TranscriptRecord | undefined): Step[] {
    const agent = this.#agents.get(key) ?? this.#meet(key, meta);
    agent.line++;
    agent.time = record?.time ?? agent.time;
    if (record !== undefined) this.#read(agent, record.type, toObject(record.fields['payload']));
    const out = this.#out;
    this.#out = [];
    return out;
  }

  /** Rollout files have the end of each turn. */
  rest(): Step[] {
    return [];
  }

  listOpenCalls(key: string): readonly OpenCall[] {
    return [...(this.#agents.get(key)?.openCalls ?? [])].map(([id, name]) => ({ id, name }));
  }

  #read(agent: Agent, type: string, payload: Fields): void {
    if (type === 'turn_context')
      agent.model = toText(payload['model'])?.slice(0, limits.importNameCharsMax) ?? agent.model;
    if (type === 'response_item') this.#readItem(agent, payload);
    if (type === 'event_msg') this.#readEvent(agent, payload);
    if (type === 'token_usage_record') this.#endRequest(agent, toUsage(toObject(payload['usage'])));
    if (type === 'compacted' && agent.isOpen) this.#emit(agent, { type: 'compacted' });
  }

  #readItem(agent: Agent, payload: Fields): void {
    switch (payload['type']) {
      case 'reasoning': {
        const thinking = toTexts(payload['summary']).join('\n');
        if (thinking !== '') this.#answer(agent, { type: 'block', content: { type: 'thinking', thinking } });
        return;
      }
      case 'function_call':
      case 'custom_tool_call':
        return this.#call(agent, payload);
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#result(agent, payload);
      case 'web_search_call':
        return this.#answer(agent, { type: 'block', content: { type: 'other', raw: payload } });
      case 'agent_message':
        // The main agent receives only reports of its sub-agents this way.
        return agent.key === MAIN ? undefined : this.#receive(agent, toTexts(payload['content']));
      default:
        return;
    }
  }

  #readEvent(agent: Agent, payload: Fields): void {
    const { type } = payload;
    if (type === 'task_started') agent.isStarting = true;
    if (type === 'turn_aborted') this.#close(agent, { type: 'stopped' });
    if (type === 'item_completed') this.#readShown(agent, toObject(payload['item']));
    if (type !== 'task_complete') return;
    const error = toText(toObject(payload['error'])['message']);
    this.#close(agent, error === undefined ? { type: 'done' } : { type: 'failed', message: error });
  }

  #readShown(agent: Agent, item: Fields): void {
    const id = toText(item['id']);
    if (item['type'] === 'UserMessage') this.#receive(agent, toTexts(item['content']));
    if (item['type'] === 'AgentMessage') {
      for (const text of toTexts(item['content']))
        this.#answer(agent, { type: 'block', content: { type: 'text', text } });
    }
    if (item['type'] === 'CollabAgentToolCall' && item['tool'] === 'spawn_agent') {
      const children = item['receiver_thread_ids'];
      for (const child of Array.isArray(children) ? children : []) this.#start(child, id);
    }
    if (item['type'] === 'SubAgentActivity' && item['kind'] === 'started') this.#start(item['agent_thread_id'], id);
  }

  #start(child: unknown, callId: string | undefined): void {
    if (typeof child === 'string' && callId !== undefined) this.#starts.set(child, callId);
  }

  /** A message of a person to the main agent, or the task of a sub-agent. */
  #receive(agent: Agent, texts: readonly string[]): void {
    const prompt = texts.join('\n');
    if (agent.key !== MAIN) {
      // Messages between agents that start no turn are context only.
      if (agent.isStarting) this.#open(agent, prompt);
      return;
    }
    if (prompt === '') return;
    agent.isStarting = false;
    agent.isOpen = true;
    this.#emit(agent, { type: 'said', content: [{ type: 'text', text: prompt }] });
  }

  #answer(agent: Agent, event: StepEvent): void {
    this.#open(agent, null);
    if (!agent.isAnswering) this.#emit(agent, { type: 'request_started', model: agent.model });
    agent.isAnswering = true;
    this.#emit(agent, event);
  }

  #call(agent: Agent, payload: Fields): void {
    const call = toCall(payload);
    if (call === undefined) return;
    agent.openCalls.set(call.call_id, call.name);
    this.#answer(agent, { type: 'call', ...call });
  }

  #result(agent: Agent, payload: Fields): void {
    const callId = toText(payload['call_id']) ?? '';
    if (!agent.openCalls.delete(callId)) return;
    this.#emit(agent, { type: 'result', call_id: callId, content: toOutput(payload['output']), is_error: false });
  }

  #endRequest(agent: Agent, usage: StepUsage, isError = false): void {
    // A request that only compacts shows nothing, and has its tokens.
    this.#open(agent, null);
    if (!agent.isAnswering) this.#emit(agent, { type: 'request_started', model: agent.model });
    agent.isAnswering = false;
    const reason = agent.openCalls.size > 0 ? 'tool_use' : 'end_turn';
    const stop_reason = isError ? null : reason;
    this.#emit(agent, { type: 'request_ended', model: agent.model, usage, stop_reason, is_error: isError });
  }

  #open(agent: Agent, prompt: string | null): void {
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

  #close(agent: Agent, outcome: Outcome): void {
    agent.isStarting = false;
    if (!agent.isOpen) return;
    if (agent.isAnswering) this.#endRequest(agent, toUsage({}), outcome.type !== 'done');
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

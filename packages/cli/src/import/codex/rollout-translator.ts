import { limits } from '../../base/limits.ts';
import { type Agent, AgentSteps } from '../agent-steps.ts';
import type { StepTranslator } from '../session-format.ts';
import { MAIN, type Step } from '../step.ts';
import { toObject, toText, type TranscriptRecord } from '../transcript-record.ts';
import type { AgentMeta, OpenCall } from '../transcript-translator.ts';
import { toCall, toOutput, toTexts, toUsage } from './rollout-items.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Translates lines of rollout files into steps. Texts of people and of the model are read from the items that Codex shows, because the
 * messages sent to the model also contain texts that Codex adds.
 */
export class RolloutTranslator implements StepTranslator {
  readonly #steps = new AgentSteps();

  take(key: string, meta: AgentMeta | null, record: TranscriptRecord | undefined): Step[] {
    const agent = this.#steps.begin(key, meta, record);
    if (record !== undefined) this.#read(agent, record.type, toObject(record.fields['payload']));
    return this.#steps.flush();
  }

  /** Nothing to do: rollout files record the end of each turn. */
  rest(): Step[] {
    return [];
  }

  listOpenCalls(key: string): readonly OpenCall[] {
    return this.#steps.listOpenCalls(key);
  }

  #read(agent: Agent, type: string, payload: Fields): void {
    if (type === 'turn_context')
      agent.model = toText(payload['model'])?.slice(0, limits.importNameCharsMax) ?? agent.model;
    if (type === 'response_item') this.#readItem(agent, payload);
    if (type === 'event_msg') this.#readEvent(agent, payload);
    if (type === 'token_usage_record') this.#steps.endRequest(agent, toUsage(toObject(payload['usage'])));
    if (type === 'compacted') this.#steps.compact(agent);
  }

  #readItem(agent: Agent, payload: Fields): void {
    const steps = this.#steps;
    switch (payload['type']) {
      case 'reasoning': {
        const thinking = toTexts(payload['summary']).join('\n');
        if (thinking !== '') steps.answer(agent, { type: 'block', content: { type: 'thinking', thinking } });
        return;
      }
      case 'function_call':
      case 'custom_tool_call': {
        const call = toCall(payload);
        if (call !== undefined) steps.call(agent, call);
        return;
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
        return steps.result(agent, {
          call_id: toText(payload['call_id']) ?? '',
          content: toOutput(payload['output']),
          is_error: false,
        });
      case 'web_search_call':
        return steps.answer(agent, { type: 'block', content: { type: 'other', raw: payload } });
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
    if (type === 'turn_aborted') this.#steps.close(agent, { type: 'stopped' });
    if (type === 'item_completed') this.#readShown(agent, toObject(payload['item']));
    if (type !== 'task_complete') return;
    const error = toText(toObject(payload['error'])['message']);
    this.#steps.close(agent, error === undefined ? { type: 'done' } : { type: 'failed', message: error });
  }

  #readShown(agent: Agent, item: Fields): void {
    const id = toText(item['id']);
    if (item['type'] === 'UserMessage') this.#receive(agent, toTexts(item['content']));
    if (item['type'] === 'AgentMessage') {
      for (const text of toTexts(item['content']))
        this.#steps.answer(agent, { type: 'block', content: { type: 'text', text } });
    }
    if (item['type'] === 'CollabAgentToolCall' && item['tool'] === 'spawn_agent') {
      const children = item['receiver_thread_ids'];
      for (const child of Array.isArray(children) ? children : []) this.#steps.start(child, id);
    }
    if (item['type'] === 'SubAgentActivity' && item['kind'] === 'started')
      this.#steps.start(item['agent_thread_id'], id);
  }

  /** Adds a message of a person to the main agent, or the task of a sub-agent. */
  #receive(agent: Agent, texts: readonly string[]): void {
    const prompt = texts.join('\n');
    if (agent.key === MAIN) this.#steps.say(agent, prompt);
    // Messages between agents that do not start a turn are only context.
    else if (agent.isStarting) this.#steps.open(agent, prompt);
  }
}

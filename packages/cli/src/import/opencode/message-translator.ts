import { type Agent, AgentSteps } from '../agent-steps.ts';
import type { StepTranslator } from '../session-format.ts';
import { MAIN, type Outcome, type Step, type StepUsage } from '../step.ts';
import { toCount, toObject, toText, type TranscriptRecord } from '../transcript-record.ts';
import type { AgentMeta, OpenCall } from '../transcript-translator.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Translates the lines of exported conversations of opencode into steps. */
export class MessageTranslator implements StepTranslator {
  readonly #steps = new AgentSteps();

  take(key: string, meta: AgentMeta | null, record: TranscriptRecord | undefined): Step[] {
    const agent = this.#steps.begin(key, meta, record);
    if (record !== undefined) this.#read(agent, record.type, record.fields);
    return this.#steps.flush();
  }

  /** Nothing to do: the last response of a turn is marked as its end. */
  rest(): Step[] {
    return [];
  }

  listOpenCalls(key: string): readonly OpenCall[] {
    return this.#steps.listOpenCalls(key);
  }

  #read(agent: Agent, type: string, fields: Fields): void {
    const steps = this.#steps;
    const text = toText(fields['text']) ?? '';
    agent.model = toText(fields['model']) ?? agent.model;
    switch (type) {
      case 'user':
        return agent.key === MAIN ? steps.say(agent, text) : steps.open(agent, text);
      case 'text':
        return steps.answer(agent, { type: 'block', content: { type: 'text', text } });
      case 'reasoning':
        return steps.answer(agent, { type: 'block', content: { type: 'thinking', thinking: text } });
      case 'call': {
        const call = { call_id: toText(fields['call_id']) ?? '', name: toText(fields['name']) ?? '' };
        steps.start(fields['child'], call.call_id);
        return steps.call(agent, { ...call, input: fields['input'] });
      }
      case 'result': {
        const output = toText(fields['output']);
        return steps.result(agent, {
          call_id: toText(fields['call_id']) ?? '',
          content: output === undefined ? [] : [{ type: 'text', text: output }],
          is_error: fields['is_error'] === true,
        });
      }
      case 'end':
        return this.#end(agent, fields);
      default:
        return;
    }
  }

  #end(agent: Agent, fields: Fields): void {
    const outcome = toOutcome(toText(fields['finish']), fields['error']);
    const hasFailed = outcome !== null && outcome.type !== 'done';
    this.#steps.endRequest(agent, toUsage(toObject(fields['tokens'])), hasFailed);
    if (fields['is_summary'] === true) this.#steps.compact(agent);
    if (outcome !== null) this.#steps.close(agent, outcome);
  }
}

/** How a turn ended; null if the response has calls whose results the model reads next. */
function toOutcome(finish: string | undefined, error: unknown): Outcome | null {
  const { name, data } = toObject(error);
  if (typeof name === 'string') {
    const message = toText(toObject(data)['message']) ?? name;
    if (name === 'MessageAbortedError') return { type: 'stopped' };
    return { type: name === 'ContentFilterError' ? 'refused' : 'failed', message };
  }
  if (finish === 'tool-calls') return null;
  if (finish === 'length') return { type: 'failed', message: 'The response reached the output limit of the model.' };
  if (finish === 'content-filter') return { type: 'refused', message: 'The model refused to answer.' };
  // A response without an end was cut off.
  return { type: finish === undefined ? 'stopped' : 'done' };
}

/** Converts token usage. Opencode counts reasoning separately from the output. */
function toUsage(tokens: Fields): StepUsage {
  const cache = toObject(tokens['cache']);
  return {
    input_tokens: toCount(tokens['input']),
    output_tokens: toCount(tokens['output']) + toCount(tokens['reasoning']),
    cache_read_input_tokens: toCount(cache['read']),
    cache_creation_5m_input_tokens: toCount(cache['write']),
    cache_creation_1h_input_tokens: 0,
  };
}

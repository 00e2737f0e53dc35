import type { Refusal } from '../failure.ts';
import type { Plan, PlanItem } from '../plan/plan.ts';
import { toTokens } from '../request/count-tokens.ts';
import type { DeltaUsage, MessagesEvent, PingEvent, StopReason } from '../wire.ts';
import { toErrorCode } from './error-body.ts';
import { type GrowingItem, startItem } from './growing-items.ts';
import type { Response, ResponsesEvent, ResponsesEventBody, ResponseUsage } from './wire.ts';

/**
 * Encodes the events of a planned answer as a response of the Responses API. The ids come from the id of the request, which
 * differs between attempts: a client must be able to distinguish a repeated response from the one that was cut.
 *
 * @example
 * const encoder = new ResponsesEncoder(plan);
 * for await (const events of model.play(plan)) send(encoder.add(events));
 */
export class ResponsesEncoder {
  readonly #id: string;
  readonly #freeformTools: ReadonlySet<string>;
  /** The block that a cut leaves unfinished: a client keeps finished items, and would not request them again. */
  readonly #cutIndex: number | undefined;
  #response: Response | undefined;
  #item: GrowingItem | undefined;
  #thoughtChars = 0;
  #sequence = 0;

  constructor({ requestId, freeformTools, items }: Pick<Plan, 'requestId' | 'freeformTools' | 'items'>) {
    this.#id = requestId.slice(requestId.indexOf('_') + 1);
    this.#freeformTools = freeformTools;
    this.#cutIndex = findCutIndex(items);
  }

  add(events: readonly (MessagesEvent | PingEvent)[]): ResponsesEvent[] {
    return events.flatMap((event) => this.#number(this.#encode(event)));
  }

  /** The end of a stream that fails after its first event. */
  fail(refusal: Refusal): ResponsesEvent[] {
    const error = { code: toErrorCode(refusal), message: refusal.message };
    return this.#number([this.#end({ status: 'failed', error })]);
  }

  /** The whole response, for a client that did not request a stream. */
  finish(): Response {
    if (this.#response === undefined) throw new Error('a response without message_start: the plan is wrong');
    return this.#response;
  }

  #encode(event: MessagesEvent | PingEvent): ResponsesEventBody[] {
    switch (event.type) {
      case 'message_start': {
        const response = toResponse(`resp_${this.#id}`, event.message.model);
        this.#response = response;
        return [
          { type: 'response.created', response },
          { type: 'response.in_progress', response },
        ];
      }
      case 'content_block_start': {
        const { index, content_block: block } = event;
        this.#item = startItem(block, { id: this.#id, index, freeformTools: this.#freeformTools });
        return this.#item.start();
      }
      case 'content_block_delta':
        if (event.delta.type === 'thinking_delta') this.#thoughtChars += event.delta.thinking.length;
        return this.#item?.add(event.delta) ?? [];
      case 'content_block_stop':
        return event.index === this.#cutIndex ? [] : this.#finishItem();
      case 'message_delta':
        return [this.#end({ ...toEnd(event.delta.stop_reason), usage: toUsage(event.usage, this.#thoughtChars) })];
      case 'message_stop':
      case 'ping':
        return [];
    }
  }

  #finishItem(): ResponsesEventBody[] {
    if (this.#item === undefined) return [];
    const { events, item } = this.#item.finish();
    this.#response = { ...this.finish(), output: [...this.finish().output, item] };
    return [...events, { type: 'response.output_item.done', output_index: this.#response.output.length - 1, item }];
  }

  #end(end: ResponseEnd): ResponsesEventBody {
    this.#response = { ...this.finish(), ...end };
    return { type: `response.${end.status}`, response: this.#response };
  }

  #number(events: readonly ResponsesEventBody[]): ResponsesEvent[] {
    return events.map((event) => ({ ...event, sequence_number: this.#sequence++ }));
  }
}

/** The last block of a plan that ends with a cut. */
function findCutIndex(items: readonly PlanItem[]): number | undefined {
  const end = items.at(-1);
  if (end?.type !== 'failure' || end.failure.type !== 'cut') return undefined;
  const last = items.findLast((item) => item.type === 'event' && item.event.type === 'content_block_stop');
  return last?.type === 'event' && last.event.type === 'content_block_stop' ? last.event.index : undefined;
}

type ResponseEnd = Partial<Response> & { status: 'completed' | 'incomplete' | 'failed' };

function toResponse(id: string, model: string): Response {
  return {
    id,
    object: 'response',
    // The same request gives the same bytes, so there is no time in them.
    created_at: 0,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: null,
    model,
    output: [],
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: null,
  };
}

function toEnd(reason: StopReason | null): ResponseEnd {
  switch (reason) {
    case 'max_tokens':
      return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
    case 'refusal':
      return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
    case 'model_context_window_exceeded':
      return {
        status: 'failed',
        error: { code: 'context_length_exceeded', message: 'The script ends the context here.' },
      };
    default:
      return { status: 'completed' };
  }
}

function toUsage(usage: DeltaUsage, thoughtChars: number): ResponseUsage {
  const { cache_read_input_tokens: read, cache_creation_input_tokens: written, output_tokens: output } = usage;
  const input = usage.input_tokens + read + written;
  const thought = thoughtChars === 0 ? 0 : Math.min(toTokens(thoughtChars), output);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thought },
    total_tokens: input + output,
  };
}

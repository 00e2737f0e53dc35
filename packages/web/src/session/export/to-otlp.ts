import type { ApprovalResolved, FleetEvent, StreamEvent } from '@fleetloom/protocol/fleet';
import { spanIdOf, traceIdOf } from './trace-ids.ts';

/** A session as one trace in OTLP JSON: runs, turns below the turn that started them, model requests, tool calls. */
export function toOtlp(sessionId: string, title: string, log: readonly FleetEvent[]): OtlpTraces {
  const folding = new TraceFolding(sessionId);
  for (const event of log) folding.take(event);
  const resource = { attributes: [text('service.name', 'fleetloom'), text('fleetloom.session.title', title)] };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'fleetloom' }, spans: folding.end() }] }] };
}

/** The root object of an OTLP trace file. */
export interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly scope: { readonly name: string }; readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** A span of OTLP JSON. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** 1: internal, 3: client. */
  readonly kind: 1 | 3;
  readonly startTimeUnixNano: string;
  endTimeUnixNano: string;
  readonly attributes: OtlpAttribute[];
  readonly events: { readonly timeUnixNano: string; readonly name: string; readonly attributes: OtlpAttribute[] }[];
  /** 0: unset, 1: ok, 2: error. */
  status: { readonly code: 0 | 1 | 2; readonly message?: string };
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string } | { readonly doubleValue: number };
}

/** Opens and closes spans event by event; spans still open at the end of the log end with its last event. */
class TraceFolding {
  readonly #sessionId: string;
  readonly #spans: OtlpSpan[] = [];
  #run: OtlpSpan | undefined;
  readonly #turns = new Map<number, OtlpSpan>();
  readonly #requests = new Map<number, OtlpSpan>();
  readonly #calls = new Map<string, OtlpSpan>();
  #lastAt = 0;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  take(event: FleetEvent): void {
    if (event.ts !== null) this.#lastAt = event.ts;
    if (event.type === 'request_received') {
      this.#run = this.#open(event, 'run', 1, undefined, [text('gen_ai.agent.name', event.agent)]);
    } else if (event.type === 'done') {
      this.#close(this.#run, event.ok, event.error);
      for (const turn of this.#turns.values()) this.#close(turn, false, 'the log has no end of this turn');
      // Turn numbers restart with every run.
      this.#turns.clear();
      this.#requests.clear();
    } else if ('stream_id' in event && event.stream_id !== undefined) this.#takeOfTurn(event);
  }

  end(): readonly OtlpSpan[] {
    for (const span of this.#spans) if (span.endTimeUnixNano === '') span.endTimeUnixNano = toNano(this.#lastAt);
    return this.#spans;
  }

  #takeOfTurn(event: StreamEvent): void {
    const { stream_id: id } = event;
    const turn = this.#turns.get(id);
    switch (event.type) {
      case 'stream_start': {
        const parent = event.parent_stream_id === null ? undefined : this.#turns.get(event.parent_stream_id);
        const operation = text('gen_ai.operation.name', 'invoke_agent');
        this.#turns.set(id, this.#open(event, `invoke_agent ${event.agent}`, 1, parent ?? this.#run, [operation]));
        break;
      }
      case 'agent_start': {
        const facts = [text('gen_ai.operation.name', 'chat'), text('gen_ai.request.model', event.model)];
        this.#close(this.#requests.get(id), true);
        this.#requests.set(id, this.#open(event, `chat ${event.model}`, 3, turn, facts));
        break;
      }
      case 'token_usage':
        this.#requests
          .get(id)
          ?.attributes.push(
            whole('gen_ai.usage.input_tokens', event.input_tokens),
            whole('gen_ai.usage.output_tokens', event.output_tokens),
            whole('gen_ai.usage.cache_read.input_tokens', event.cache_read_tokens),
            whole('gen_ai.usage.cache_creation.input_tokens', event.cache_create_tokens),
            ...(event.cost_usd === undefined ? [] : [real('fleetloom.cost.usd', event.cost_usd)]),
          );
        this.#close(this.#requests.get(id), true);
        this.#requests.delete(id);
        break;
      case 'request_retrying':
        this.#close(this.#requests.get(id), false, event.message);
        this.#requests.delete(id);
        break;
      case 'tool_start': {
        const facts = [
          text('gen_ai.operation.name', 'execute_tool'),
          text('gen_ai.tool.name', event.tool),
          text('gen_ai.tool.call.id', event.tool_use_id),
        ];
        this.#calls.set(event.tool_use_id, this.#open(event, `execute_tool ${event.tool}`, 1, turn, facts));
        break;
      }
      case 'tool_call':
        this.#close(this.#calls.get(event.tool_use_id), event.ok, event.error);
        this.#calls.delete(event.tool_use_id);
        break;
      case 'approval_required':
      case 'approval_resolved': {
        const answer = event.type === 'approval_resolved' ? answerOf(event) : [];
        const attributes = [text('gen_ai.tool.name', event.tool), ...answer];
        turn?.events.push({ timeUnixNano: toNano(this.#lastAt), name: event.type, attributes });
        break;
      }
      case 'stream_end':
        this.#close(this.#requests.get(id), event.ok, event.error);
        this.#requests.delete(id);
        this.#close(turn, event.ok, event.error ?? event.stop_reason);
        break;
      default:
        break;
    }
  }

  #open(
    event: FleetEvent,
    name: string,
    kind: OtlpSpan['kind'],
    parent: OtlpSpan | undefined,
    facts: OtlpAttribute[],
  ): OtlpSpan {
    const isOfTurn = 'stream_id' in event && event.stream_id !== undefined && 'thread_id' in event;
    const who = isOfTurn
      ? [text('gen_ai.agent.name', event.agent), text('gen_ai.agent.id', event.thread_id ?? `turn ${event.stream_id}`)]
      : [];
    const span: OtlpSpan = {
      traceId: traceIdOf(this.#sessionId),
      spanId: spanIdOf(`${this.#sessionId} ${event.cursor} ${name} ${this.#spans.length}`),
      parentSpanId: parent?.spanId ?? '',
      name,
      kind,
      startTimeUnixNano: toNano(event.ts ?? this.#lastAt),
      endTimeUnixNano: '',
      attributes: [text('gen_ai.conversation.id', this.#sessionId), ...who, ...facts],
      events: [],
      status: { code: 0 },
    };
    this.#spans.push(span);
    return span;
  }

  /** Only the first end counts. */
  #close(span: OtlpSpan | undefined, isOk: boolean, message?: string): void {
    if (span === undefined || span.endTimeUnixNano !== '') return;
    span.endTimeUnixNano = toNano(this.#lastAt);
    span.status = isOk ? { code: 1 } : { code: 2, ...(message === undefined ? {} : { message }) };
  }
}

/** User, rule and input hash of a decision. */
function answerOf({ result = '', by = '', rule, input_sha256: hash }: ApprovalResolved): OtlpAttribute[] {
  return [
    text('fleetloom.approval.result', result),
    text('fleetloom.approval.by', by),
    ...(rule === undefined ? [] : [text('fleetloom.approval.rule', rule)]),
    ...(hash === undefined ? [] : [text('fleetloom.approval.input_sha256', hash)]),
  ];
}

/** A string: nanoseconds since 1970 exceed the safe integers. */
function toNano(ms: number): string {
  return `${Math.round(ms)}000000`;
}

function text(key: string, stringValue: string): OtlpAttribute {
  return { key, value: { stringValue } };
}

function whole(key: string, value: number): OtlpAttribute {
  return { key, value: { intValue: String(value) } };
}

function real(key: string, doubleValue: number): OtlpAttribute {
  return { key, value: { doubleValue } };
}

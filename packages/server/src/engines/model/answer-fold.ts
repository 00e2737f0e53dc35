import type { AssistantBlock } from '../../base/content.ts';
import { JsonGauge } from '../../base/json/json-gauge.ts';
import { isObject, type Json, type JsonObject } from '../../base/json/json.ts';
import { modelLimits } from './limits.ts';
import type { EngineEvent, EngineFailure, Stop, Usage } from './engine.ts';
import { brokenAnswer } from './failures.ts';
import { addUsage } from './usage.ts';

/**
 * Converts the events of a streamed Messages response to engine events. The input is not trusted: events that break
 * the order of the API become a failure, never an incomplete response.
 *
 * @example
 * const fold = new AnswerFold('claude-opus-5');
 * for await (const event of stream) yield* fold.push(event);
 */
export class AnswerFold {
  /** The usage that the response has reported so far. */
  usage: Usage | null = null;
  /** The model in the response; undefined until the response begins. */
  #model: string | undefined;
  readonly #asked: string;
  #stop: Stop | undefined;
  readonly #blocks: Growing[] = [];
  /** The block that is being streamed, and its index at the endpoint. */
  #open: { block: Growing; index: Json | undefined } | undefined;
  #chars = 0;
  /** Characters of the inputs of tool calls. */
  #inputChars = 0;
  #inputValues = 0;

  /** `asked`: the model in the request, for responses that do not name their model. */
  constructor(asked: string) {
    this.#asked = asked;
  }

  /** Returns the engine events of a wire event; none for pings and unknown types. */
  push(event: Json): EngineEvent[] {
    if (!isObject(event)) return [this.#fail('an event of the answer is not a JSON object')];
    switch (event['type']) {
      case 'message_start':
        return this.#start(event);
      case 'content_block_start':
        return this.#startBlock(event);
      case 'content_block_delta':
        return this.#grow(event);
      case 'content_block_stop':
        return this.#stopBlock(event);
      case 'message_delta':
        return this.#noteStop(event);
      case 'message_stop':
        return [this.#finish()];
      default:
        return [];
    }
  }

  #start({ message }: JsonObject): EngineEvent[] {
    if (!isObject(message)) return [this.#fail('its beginning says nothing')];
    if (this.#model !== undefined) return [this.#fail('it begins twice')];
    this.#model = toText(message['model']) || this.#asked;
    this.usage = addUsage(this.usage, message['usage']);
    return [];
  }

  #startBlock({ content_block: start, index }: JsonObject): EngineEvent[] {
    if (!isObject(start) || typeof start['type'] !== 'string') return [this.#fail('a block has no type')];
    if (start['type'] === 'tool_use' && !(toText(start['id']) && toText(start['name'])))
      return [this.#fail('a call has no id or no name')];
    if (this.#open !== undefined) return [this.#fail('a block begins inside another one')];
    if (this.#blocks.length >= modelLimits.engineBlocksMax) {
      return [this.#fail(`the answer has more than ${modelLimits.engineBlocksMax} blocks`, 'turn')];
    }
    const block: Growing = { kind: toKind(start['type']), start, text: '', signature: '', json: '' };
    this.#open = { block, index };
    const at = this.#blocks.push(block) - 1;
    // Some endpoints send the first piece with the start of the block.
    const first = block.kind === 'text' ? start['text'] : block.kind === 'thinking' ? start['thinking'] : '';
    block.signature = toText(start['signature']);
    return [{ type: 'block_started', index: at, block: block.kind }, ...this.#addText(block, toText(first))];
  }

  #grow({ delta, index }: JsonObject): EngineEvent[] {
    if (this.#open === undefined || this.#open.index !== index) return [this.#fail('a piece belongs to no open block')];
    if (!isObject(delta)) return [this.#fail('a piece of a block is missing')];
    const { block } = this.#open;
    if (delta['type'] === 'text_delta' && block.kind === 'text') return this.#addText(block, toText(delta['text']));
    if (delta['type'] === 'thinking_delta' && block.kind === 'thinking')
      return this.#addText(block, toText(delta['thinking']));
    if (delta['type'] === 'signature_delta') block.signature = toText(delta['signature']);
    if (delta['type'] === 'citations_delta') {
      block.citations ??= [];
      block.citations.push(delta['citation'] ?? null);
      return this.#count(CITATION_CHARS);
    }
    if (delta['type'] === 'input_json_delta') {
      return this.#addInput(block, toText(delta['partial_json']));
    }
    return [];
  }

  #addText(block: Growing, text: string): EngineEvent[] {
    if (text === '') return [];
    block.text += text;
    const failed = this.#count(text.length);
    return failed.length > 0 ? failed : [{ type: 'delta', index: this.#blocks.length - 1, text }];
  }

  /** Adds a piece of an input. Long inputs are measured as they arrive: parsing one could take a second. */
  #addInput(block: Growing, piece: string): EngineEvent[] {
    block.json += piece;
    this.#inputChars += piece.length;
    if (this.#inputChars > GAUGED_CHARS) {
      const isNew = block.gauge === undefined;
      block.gauge ??= new JsonGauge();
      const before = isNew ? 0 : block.gauge.values;
      block.gauge.push(Buffer.from(isNew ? block.json : piece));
      this.#inputValues += block.gauge.values - before;
    }
    if (this.#inputValues <= modelLimits.engineValuesMax) return this.#count(piece.length);
    return [this.#fail(`the inputs of its calls have more than ${modelLimits.engineValuesMax} values`, 'turn')];
  }

  /** Counts characters: a model that never stops must not fill the memory. */
  #count(chars: number): EngineEvent[] {
    this.#chars += chars;
    if (this.#chars <= modelLimits.engineAnswerCharsMax) return [];
    return [this.#fail(`the answer has more than ${modelLimits.engineAnswerCharsMax} characters`, 'turn')];
  }

  #stopBlock({ index }: JsonObject): EngineEvent[] {
    if (this.#open === undefined || this.#open.index !== index) return [this.#fail('a block ends that is not open')];
    this.#open = undefined;
    return [];
  }

  #noteStop({ delta, usage }: JsonObject): EngineEvent[] {
    this.usage = addUsage(this.usage, usage);
    if (!isObject(delta)) return [];
    const reason = delta['stop_reason'];
    if (typeof reason === 'string') this.#stop = toStop(reason, delta['stop_details']);
    return [];
  }

  #finish(): EngineEvent {
    if (this.#model === undefined || this.usage === null) return this.#fail('it has no beginning');
    if (this.#open !== undefined) return this.#fail('it ends inside a block');
    if (this.#stop === undefined) return this.#fail('it ends without a reason');
    const blocks = cuttingReasons.has(this.#stop.reason) ? withoutHalfCall(this.#blocks) : this.#blocks;
    const content = blocks.map(toBlock).filter((block) => block !== undefined);
    if (content.length < blocks.length) return this.#fail('the input of a tool call is not a JSON object');
    const stop = keepPromise(this.#stop, content);
    return { type: 'finished', content, stop, usage: this.usage, model: this.#model };
  }

  #fail(problem: string, consequence: EngineFailure['consequence'] = 'retry'): EngineEvent {
    const failure = { ...brokenAnswer(`the model's answer cannot be used: ${problem}`), consequence };
    return { type: 'failed', failure, usage: this.usage };
  }
}

type Kind = 'text' | 'thinking' | 'tool_use' | 'other';

interface Growing {
  readonly kind: Kind;
  /** The block in its start event, unknown fields included. */
  readonly start: JsonObject;
  /** The text of a text or thinking block. */
  text: string;
  signature: string;
  citations?: Json[];
  /** For a tool call: the input so far, and its parts if it is long. */
  json: string;
  gauge?: JsonGauge;
}

function toKind(type: string): Kind {
  if (type === 'redacted_thinking') return 'thinking';
  return type === 'text' || type === 'thinking' || type === 'tool_use' ? type : 'other';
}

/** The length that a citation counts as. Its content is not inspected. */
const CITATION_CHARS = 100;

/** Characters of an input that is parsed without measuring it first. */
const GAUGED_CHARS = 64 * 1024;

/** Removes a call that was cut off before its input began: it looks like a call without input. */
function withoutHalfCall(blocks: readonly Growing[]): readonly Growing[] {
  const last = blocks.at(-1);
  if (last?.kind !== 'tool_use') return blocks;
  const isWhole = last.json === '' ? hasFields(last.start['input']) : isObject(parse(last.json));
  return isWhole ? blocks : blocks.slice(0, -1);
}

function hasFields(input: Json | undefined): boolean {
  return isObject(input) && Object.keys(input).length > 0;
}

/** Converts a block; undefined for a tool call whose input cannot be parsed. */
function toBlock({ start, text, signature, json, citations }: Growing): AssistantBlock | undefined {
  const type = start['type'];
  if (type === 'text') {
    return { ...extrasOf(start, ['text']), type, text, ...(citations === undefined ? {} : { citations }) };
  }
  if (type === 'thinking') return { ...extrasOf(start, ['thinking', 'signature']), type, thinking: text, signature };
  if (type === 'redacted_thinking') return { ...extrasOf(start, []), type, data: toText(start['data']) };
  if (type !== 'tool_use') return { type: 'opaque', raw: json === '' ? start : { ...start, input: parse(json) ?? {} } };
  const input = json === '' ? emptyInput(start['input']) : parse(json);
  if (!isObject(input)) return undefined;
  return { ...extrasOf(start, []), type, id: toText(start['id']), name: toText(start['name']), input };
}

/** Unknown fields of a block, which are kept. Empty fields are removed, so that equal responses are equal. */
function extrasOf(start: JsonObject, folded: readonly string[]): JsonObject {
  const entries = Object.entries(start).filter(([name, value]) => {
    if (folded.includes(name) || value === null) return false;
    return !(name === 'caller' && isObject(value) && value['type'] === 'direct');
  });
  return Object.fromEntries(entries);
}

/** The input of a call without input pieces: the input in its start event, or an empty object. */
function emptyInput(input: Json | undefined): JsonObject {
  return isObject(input) ? input : {};
}

function parse(json: string): Json | undefined {
  try {
    // The cast: JSON.parse returns JSON values, although its type is `any`.
    return JSON.parse(json) as Json;
  } catch {
    // The input is cut off or malformed: the caller decides by the stop reason.
    return undefined;
  }
}

function toStop(reason: string, details: Json | undefined): Stop {
  const known = stopReasons.get(reason) ?? 'end_turn';
  const { category = null, explanation = null } = isObject(details) ? details : {};
  return {
    reason: known,
    category: typeof category === 'string' ? category : null,
    explanation: typeof explanation === 'string' ? explanation : null,
  };
}

/** The known stop reasons. An unknown reason counts as a normal stop. */
const stopReasons: ReadonlyMap<string, Stop['reason']> = new Map<string, Stop['reason']>([
  ['end_turn', 'end_turn'],
  ['tool_use', 'tool_use'],
  ['max_tokens', 'max_tokens'],
  ['stop_sequence', 'stop_sequence'],
  ['pause_turn', 'pause_turn'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'context_window_exceeded'],
]);

/** The stop reasons with which a model may stop in the middle of a call. */
const cuttingReasons: ReadonlySet<Stop['reason']> = new Set([
  'max_tokens',
  'refusal',
  'stop_sequence',
  'context_window_exceeded',
]);

/** Replaces `tool_use` without a call: the session would wait for tool results forever. */
function keepPromise(stop: Stop, content: readonly AssistantBlock[]): Stop {
  if (stop.reason !== 'tool_use' || content.some(({ type }) => type === 'tool_use')) return stop;
  return { ...stop, reason: 'end_turn' };
}

function toText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

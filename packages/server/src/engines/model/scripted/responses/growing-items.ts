import { atOnce } from '../../../../base/in-slices.ts';
import { splitText } from '../plan/split-text.ts';
import type { BlockDelta, ContentBlock } from '../wire.ts';
import type {
  CustomToolCallItem,
  FunctionCallItem,
  InItem,
  MessageItem,
  OutputItem,
  ReasoningItem,
  ResponsesEventBody,
  SummaryPart,
  TextPart,
} from './wire.ts';

/** An item of a response while its content block is streamed. */
export interface GrowingItem {
  start(): ResponsesEventBody[];
  add(delta: BlockDelta): ResponsesEventBody[];
  /** The last events of the item, and the whole item. */
  finish(): { events: ResponsesEventBody[]; item: OutputItem };
}

/** The position of an item. */
export interface ItemPlace {
  /** The id of the response. */
  readonly id: string;
  readonly index: number;
  /** Tools that take a text. */
  readonly freeformTools: ReadonlySet<string>;
}

/** Starts the item of a content block. */
export function startItem(block: ContentBlock, place: ItemPlace): GrowingItem {
  if (block.type === 'text') return createMessage(toPosition('msg', place));
  if (block.type === 'thinking') return createReasoning(toPosition('rs', place));
  const callId = `call_${place.id}_${place.index}`;
  if (place.freeformTools.has(block.name)) return createCustomCall(toPosition('ctc', place), callId, block.name);
  return createFunctionCall(toPosition('fc', place), callId, block.name);
}

function toPosition(prefix: string, { id, index }: ItemPlace): InItem {
  return { item_id: `${prefix}_${id}_${index}`, output_index: index };
}

function createMessage(position: InItem): GrowingItem {
  const place = { ...position, content_index: 0 };
  const toPart = (text: string): TextPart => ({ type: 'output_text', text, annotations: [], logprobs: [] });
  const toItem = (status: MessageItem['status'], content: TextPart[]): MessageItem => {
    return { type: 'message', id: position.item_id, role: 'assistant', status, content };
  };
  let text = '';
  return {
    start: () => [
      toAdded(position, toItem('in_progress', [])),
      { type: 'response.content_part.added', ...place, part: toPart('') },
    ],
    add: (delta) => {
      if (delta.type !== 'text_delta') return [];
      text += delta.text;
      return [{ type: 'response.output_text.delta', ...place, delta: delta.text, logprobs: [] }];
    },
    finish: () => ({
      events: [
        { type: 'response.output_text.done', ...place, text, logprobs: [] },
        { type: 'response.content_part.done', ...place, part: toPart(text) },
      ],
      item: toItem('completed', [toPart(text)]),
    }),
  };
}

function createReasoning(position: InItem): GrowingItem {
  const place = { ...position, summary_index: 0 };
  const toPart = (text: string): SummaryPart => ({ type: 'summary_text', text });
  const toItem = (summary: SummaryPart[], encrypted_content: string): ReasoningItem => {
    return { type: 'reasoning', id: position.item_id, summary, encrypted_content };
  };
  let text = '';
  let signature = '';
  return {
    start: () => [
      toAdded(position, toItem([], '')),
      { type: 'response.reasoning_summary_part.added', ...place, part: toPart('') },
    ],
    add: (delta) => {
      if (delta.type === 'signature_delta') signature = delta.signature;
      if (delta.type !== 'thinking_delta') return [];
      text += delta.thinking;
      return [{ type: 'response.reasoning_summary_text.delta', ...place, delta: delta.thinking }];
    },
    finish: () => ({
      events: [
        { type: 'response.reasoning_summary_text.done', ...place, text },
        { type: 'response.reasoning_summary_part.done', ...place, part: toPart(text) },
      ],
      item: toItem([toPart(text)], signature),
    }),
  };
}

function createFunctionCall(position: InItem, call_id: string, tool: string): GrowingItem {
  const names = toNames(tool);
  const toItem = (status: FunctionCallItem['status'], json: string): FunctionCallItem => {
    return { type: 'function_call', id: position.item_id, call_id, ...names, arguments: json, status };
  };
  let json = '';
  return {
    start: () => [toAdded(position, toItem('in_progress', ''))],
    add: (delta) => {
      // The Messages API begins with an empty piece.
      if (delta.type !== 'input_json_delta' || delta.partial_json === '') return [];
      json += delta.partial_json;
      return [{ type: 'response.function_call_arguments.delta', ...position, delta: delta.partial_json }];
    },
    finish: () => ({
      events: [{ type: 'response.function_call_arguments.done', ...position, name: names.name, arguments: json }],
      item: toItem('completed', json),
    }),
  };
}

/** The text is known only when all of its JSON has arrived, and is streamed then. */
function createCustomCall(position: InItem, call_id: string, tool: string): GrowingItem {
  const names = toNames(tool);
  const toItem = (status: CustomToolCallItem['status'], input: string): CustomToolCallItem => {
    return { type: 'custom_tool_call', id: position.item_id, call_id, ...names, input, status };
  };
  let json = '';
  return {
    start: () => [toAdded(position, toItem('in_progress', ''))],
    add: (delta) => {
      if (delta.type === 'input_json_delta') json += delta.partial_json;
      return [];
    },
    finish: () => {
      const input = toFreeform(json);
      const deltas = atOnce(splitText(input, CUSTOM_PIECES)).map((delta): ResponsesEventBody => {
        return { type: 'response.custom_tool_call_input.delta', ...position, delta };
      });
      return {
        events: [...deltas, { type: 'response.custom_tool_call_input.done', ...position, input }],
        item: toItem('completed', input),
      };
    },
  };
}

const CUSTOM_PIECES = 16;

/** The text of an input `{ "input": "…" }`, otherwise the input as JSON. */
function toFreeform(json: string): string {
  const value: unknown = JSON.parse(json);
  const isText = typeof value === 'object' && value !== null && 'input' in value && Object.keys(value).length === 1;
  return isText && typeof value.input === 'string' ? value.input : json;
}

/** Splits `namespace.tool`: names of tools do not contain dots. */
function toNames(tool: string): { name: string; namespace?: string } {
  const dot = tool.indexOf('.');
  return dot === -1 ? { name: tool } : { name: tool.slice(dot + 1), namespace: tool.slice(0, dot) };
}

function toAdded({ output_index }: InItem, item: OutputItem): ResponsesEventBody {
  return { type: 'response.output_item.added', output_index, item };
}

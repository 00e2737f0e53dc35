import type { AssistantBlock, InputBlock, Message, ResultBlock, ToolResultBlock } from '../../../base/content.ts';
import type { Json, JsonObject } from '../../../base/json/json.ts';
import type { ModelRequest } from '../engine.ts';
import { traitsOf } from '../catalog/model-traits.ts';

/** Options of converting a model request. */
export interface ParamsOptions {
  /** Whether to set cache markers for the next request. */
  caching: boolean;
  /** Replaces the token limit of the model. */
  maxTokens?: number | undefined;
}

/** The body of `POST /v1/messages` for a request. The same history gives the same beginning, otherwise the cache would not match. */
export function toParams(request: ModelRequest, options: ParamsOptions): JsonObject {
  const { model, system, tools, thread } = request;
  const traits = traitsOf(model.id);
  const messages = mergeUsers(request.messages.map(toSendable).filter(({ content }) => content.length > 0));
  const mark = options.caching ? MARK : {};
  const isEffortKnown = model.effort !== null && traits.efforts.includes(model.effort);
  return {
    model: model.id,
    max_tokens: options.maxTokens ?? traits.maxTokens,
    stream: true,
    metadata: { user_id: thread.id },
    ...(system === null || isBlank(system) ? {} : { system: [{ type: 'text', text: system, ...mark }] }),
    ...(tools.length === 0
      ? {}
      : { tools: tools.map((tool, at) => toTool(tool, at === tools.length - 1 ? mark : {})) }),
    ...(traits.isAdaptive ? { thinking: { type: 'adaptive', display: 'summarized' } } : {}),
    ...(isEffortKnown ? { output_config: { effort: model.effort } } : {}),
    ...(model.speed === 'fast' ? { speed: 'fast' } : {}),
    ...(model.inferenceGeo === undefined ? {} : { inference_geo: model.inferenceGeo }),
    messages: options.caching ? markNewest(messages) : messages,
  };
}

/** Messages with cache markers. Four markers are allowed: one after the tools, one after the system prompt, and these. */
const MARKED_MESSAGES = 2;
const MARK = { cache_control: { type: 'ephemeral' } } as const;

type Sendable = { readonly role: Message['role']; readonly content: readonly JsonObject[] };

function toTool({ name, description, inputSchema }: ModelRequest['tools'][number], mark: JsonObject): JsonObject {
  return { name, description, input_schema: { type: 'object', ...inputSchema }, ...mark };
}

function toSendable(message: Message): Sendable {
  if (message.role === 'assistant') return { role: 'assistant', content: message.content.flatMap(toAssistantBlock) };
  return { role: 'user', content: message.content.flatMap(toUserBlock) };
}

/** Removes blocks that the API would reject: empty texts, and thinking that was cut off before its signature. */
function toAssistantBlock(block: AssistantBlock): JsonObject[] {
  if (block.type === 'opaque') return [block.raw];
  if (block.type === 'text' && isBlank(block.text)) return [];
  if (block.type === 'thinking' && block.signature === '') return [];
  return [toJson(block)];
}

function toUserBlock(block: InputBlock | ToolResultBlock): JsonObject[] {
  if (block.type === 'tool_result') return [{ ...toJson(block), content: block.content.flatMap(toUserPart) }];
  return toUserPart(block);
}

function toUserPart(block: ResultBlock): JsonObject[] {
  return block.type === 'text' && isBlank(block.text) ? [] : [toJson(block)];
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Blocks are JSON that was checked when it was received; their interfaces only lack the index signature of JSON objects. */
function toJson(block: AssistantBlock | ResultBlock | ToolResultBlock): JsonObject {
  return block as unknown as JsonObject;
}

/**
 * Joins all input between two responses into one message, results first, as the API requires. Responses stay
 * apart: a paused response and its continuation are two messages.
 */
function mergeUsers(messages: readonly Sendable[]): Sendable[] {
  const merged: Sendable[] = [];
  for (const message of messages) {
    const before = merged.at(-1);
    if (message.role === 'user' && before?.role === 'user') {
      merged[merged.length - 1] = { role: 'user', content: [...before.content, ...message.content] };
    } else merged.push(message);
  }
  return merged.map(({ role, content }) => ({ role, content: role === 'user' ? resultsFirst(content) : content }));
}

function resultsFirst(content: readonly JsonObject[]): readonly JsonObject[] {
  const isResult = ({ type }: JsonObject) => type === 'tool_result';
  return [...content.filter(isResult), ...content.filter((block) => !isResult(block))];
}

/** Sets cache markers on the newest user messages: the last for the next request, the one before to match the previous marker. */
function markNewest(messages: readonly Sendable[]): Json {
  const users = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : [])).slice(-MARKED_MESSAGES);
  return messages.map(({ role, content }, at) => {
    const last = content.at(-1);
    if (!users.includes(at) || last === undefined) return { role, content };
    return { role, content: [...content.slice(0, -1), { ...last, ...MARK }] };
  });
}

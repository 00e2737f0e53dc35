import { cutText } from '@fleetloom/protocol/fleet';
import type { AssistantBlock, Message, ToolResultBlock } from '../../base/content.ts';
import { modelLimits } from './limits.ts';
import type { ModelRequest, Usage } from './engine.ts';
import { estimateTokens } from './estimate-tokens.ts';

// When a history no longer fits into the window of its model, the model summarises it and continues with the summary. The
// session decides when, and logs the summary; these pure functions build the requests and histories.

/** A history, and the context window that it has to fit into. */
export interface Fullness {
  readonly messages: readonly Message[];
  /** The context window in tokens. */
  readonly window: number;
  /** The usage of the newest response in the history. Without it, all tokens are estimated. */
  readonly usage: Usage | null;
}

/** Whether a history should be summarised before it is sent again. */
export function isNearlyFull({ messages, window, usage }: Fullness): boolean {
  return countHistory(messages, usage) > (window * modelLimits.compactionFillPercent) / 100;
}

/** Whether there are messages before the newest exchange: only these can be summarised. */
export function isCompactable(messages: readonly Message[]): boolean {
  return findNewestExchange(messages) > 1;
}

/** The endpoint's count up to its newest response, plus an estimate of the messages after it. */
function countHistory(messages: readonly Message[], usage: Usage | null): number {
  if (usage === null) return estimateTokens(messages);
  const answer = messages.findLastIndex(({ role }) => role === 'assistant');
  const { inputTokens, outputTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens } = usage;
  const counted = inputTokens + outputTokens + cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens;
  return counted + estimateTokens(messages.slice(answer + 1));
}

/**
 * The request for a summary. It begins like the last request, so that the endpoint still has that part in its cache,
 * unless it would not fit: then long results are shortened, and then the oldest exchanges removed.
 */
export function toSummaryRequest(request: ModelRequest, window: number): ModelRequest {
  const budget = Math.floor((window * (modelLimits.compactionFillPercent + 100)) / 200);
  const messages = fitInto(request.messages, budget);
  return { ...request, messages: [...messages, { role: 'user', content: [{ type: 'text', text: SUMMARY_PROMPT }] }] };
}

const SUMMARY_PROMPT = [
  'The conversation above is about to be replaced by a summary, because it nearly fills your context window. Write that',
  'summary now. You will continue the work with nothing but it, the first message and your newest step, so put into it',
  'whatever you would miss:',
  '',
  '1. What you were asked to do, with every wish, limit and correction that was given on the way.',
  '2. What is done, and what came of it: decisions with their reasons, files and other things that were read, made or',
  '   changed (with their full names and places), commands and results that matter, facts that were found.',
  '3. What went wrong, and what was learnt from it.',
  '4. The other agents that work on this, their tasks, and what they have reported or still owe.',
  '5. What is under way right now, and the very next step.',
  '',
  'Quote names, numbers, paths, ids and error messages exactly. Do not call tools and do not go on with the work: answer',
  'with the text of the summary only.',
].join('\n');

/** The text of the summary; null if the model did not write one. */
export function readSummary(content: readonly AssistantBlock[]): string | null {
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const summary = texts.join('\n').trim();
  return summary === '' ? null : summary;
}

/**
 * The history after a compaction: the original task, if it is not too long, the summary, and the newest exchange,
 * without thinking. Null if there is no older exchange that a summary could replace.
 */
export function toCompacted(messages: readonly Message[], summary: string, window: number): readonly Message[] | null {
  const [task] = messages;
  if (task === undefined || !isCompactable(messages)) return null;
  const isShort = estimateTokens([task]) <= (window * modelLimits.compactionTaskPercent) / 100;
  const summed: Message = { role: 'user', content: [{ type: 'text', text: `${SUMMARY_INTRODUCTION}\n\n${summary}` }] };
  return [
    ...(isShort ? [task] : []),
    summed,
    ...messages.slice(findNewestExchange(messages)).map(withoutThoughts).filter(hasContent),
  ];
}

const SUMMARY_INTRODUCTION = 'The conversation so far was summed up to save space. This is the summary:';

/** The index of the newest response. From there on, every tool call has its result. */
function findNewestExchange(messages: readonly Message[]): number {
  let at = messages.findLastIndex(({ role }) => role === 'assistant');
  // A paused response and its continuation belong together.
  while (messages[at - 1]?.role === 'assistant') at -= 1;
  return at;
}

/** Removes thinking blocks, whose signatures are valid only in their conversation: in another one they are rejected. */
function withoutThoughts(message: Message): Message {
  if (message.role === 'user') return message;
  const content = message.content.filter(({ type }) => type !== 'thinking' && type !== 'redacted_thinking');
  return { ...message, content };
}

/** Whether a message still has content: a response of only thinking is empty without it, and endpoints reject empty messages. */
function hasContent({ content }: Message): boolean {
  return content.length > 0;
}

function fitInto(messages: readonly Message[], budget: number): readonly Message[] {
  if (estimateTokens(messages) <= budget) return messages;
  const short = messages.map(shorten).filter(hasContent);
  const starts = short.flatMap(({ role }, at) => (role === 'assistant' && short[at - 1]?.role === 'user' ? [at] : []));
  for (const start of [1, ...starts.slice(1)]) {
    const kept = [...short.slice(0, 1), ...short.slice(start)];
    if (estimateTokens(kept) <= budget) return kept;
  }
  return [...short.slice(0, 1), ...short.slice(starts.at(-1) ?? 1)];
}

function shorten(message: Message): Message {
  if (message.role === 'assistant') return withoutThoughts(message);
  return { ...message, content: message.content.map((block) => (block.type === 'tool_result' ? cut(block) : block)) };
}

function cut(result: ToolResultBlock): ToolResultBlock {
  const content = result.content.flatMap((part): ToolResultBlock['content'] => {
    if (part.type !== 'text') return [{ type: 'text', text: `[${part.type} left out]` }];
    const { compactionResultCharsMax: max } = modelLimits;
    if (part.text.length <= max) return [part];
    return [{ type: 'text', text: `${cutText(part.text, max)}\n[${part.text.length - max} more characters left out]` }];
  });
  return { ...result, content };
}

import { cutText } from '@fleetloom/protocol/fleet';
import type { WorkBudget } from '../../../../base/bounded-pattern.ts';
import { type Conversation, resultsOf, type ToolResult } from './conversation.ts';
import { holdsText } from '../script/match-text.ts';
import { InvalidInput } from '../script/invalid-input.ts';
import type { ExpectStep } from '../script/script.ts';

/** Throws a {@link InvalidInput} that names the first difference between what the script expects and what reached it. */
export function checkExpectation(step: ExpectStep, given: Expectable, path: string, budget: WorkBudget): void {
  for (const text of step.contains) {
    const isHeld = given.texts.some((held) => holdsText(held, text, `${path}.contains`, budget));
    if (!isHeld) throw new InvalidInput(`${path}.contains`, `no text holds ${quote(text)}`);
  }
  for (const name of step.tools) {
    if (given.tools.has(name)) continue;
    throw new InvalidInput(`${path}.tools`, `${quote(name)} is not among the tools: ${listOrNone(given.toolNames)}`);
  }
  checkResults(step, given.results, path, budget);
}

/** The values that expectations are compared with, computed once: a turn may have a thousand expectations. */
export class Expectable {
  readonly #conversation: Conversation;
  #texts: readonly string[] | undefined;
  #tools: ReadonlySet<string> | undefined;
  #results: readonly ToolResult[] | undefined;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  get texts(): readonly string[] {
    return (this.#texts ??= textsOf(this.#conversation));
  }

  get toolNames(): readonly string[] {
    return this.#conversation.tools;
  }

  get tools(): ReadonlySet<string> {
    return (this.#tools ??= new Set(this.toolNames));
  }

  get results(): readonly ToolResult[] {
    return (this.#results ??= resultsOf(this.#conversation.messages.at(-1)));
  }
}

function checkResults(
  { toolResult, isError }: ExpectStep,
  results: readonly ToolResult[],
  path: string,
  budget: WorkBudget,
): void {
  for (const text of toolResult) {
    const holding = results.filter((result) => holdsText(result.text, text, `${path}.tool_result`, budget));
    if (holding.length === 0) {
      const got = listOrNone(results.map((result) => quote(result.text)));
      throw new InvalidInput(`${path}.tool_result`, `no result holds ${quote(text)}: ${got}`);
    }
    if (isError === undefined || holding.some((result) => result.isError === isError)) continue;
    throw new InvalidInput(`${path}.is_error`, `the result that holds ${quote(text)} has is_error ${String(!isError)}`);
  }
  if (toolResult.length > 0 || isError === undefined) return;
  const fits = isError ? results.some((result) => result.isError) : results.every((result) => !result.isError);
  if (fits) return;
  throw new InvalidInput(`${path}.is_error`, isError ? 'no result is an error' : 'a result is an error');
}

/** All text that the model received: the system prompt, messages and results. */
function textsOf({ system, messages }: Conversation): string[] {
  const blocks = messages.flatMap((message) => message.blocks);
  return [...system, ...blocks.flatMap((block) => ('text' in block ? [block.text] : []))];
}

function listOrNone(items: readonly string[]): string {
  const shown = items.slice(0, 20).join(', ');
  if (items.length === 0) return 'there are none';
  return items.length > 20 ? `${shown} and ${items.length - 20} more` : shown;
}

function quote(text: string): string {
  return JSON.stringify(text.length <= 200 ? text : `${cutText(text, 199)}…`);
}

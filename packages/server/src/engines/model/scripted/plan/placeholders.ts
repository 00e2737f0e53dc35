import type { WorkBudget } from '../../../../base/bounded-pattern.ts';
import {
  allUserContent,
  type Conversation,
  countAnswers,
  joinTexts,
  resultsOf,
  textOf,
} from '../request/conversation.ts';
import { type JsonObject, mapStrings } from '../json.ts';
import { limits } from '../limits.ts';
import { findText } from '../script/match-text.ts';
import { InvalidInput } from '../script/invalid-input.ts';
import { type Placeholder, replacePlaceholders } from './replace-placeholders.ts';
import type { Step, Turn } from '../script/script.ts';

/** The values that placeholders are replaced with. */
export interface FillingContext {
  readonly conversation: Conversation;
  /** The name of the agent that asks, empty if unknown. */
  readonly agent: string;
  /** The budget of searches in the conversation. */
  readonly budget: WorkBudget;
}

/** The turn with its placeholders replaced from the conversation. Replacements are not searched for placeholders. */
export function* fillPlaceholders(turn: Turn, { conversation, agent, budget }: FillingContext): Generator<void, Turn> {
  const values = new Map<string, string>();
  let room: number = limits.answerCharsMax;
  let content: string | undefined;
  let [placeholders, finds] = [0, 0];
  const filled: Step[] = [];
  for (const step of turn) {
    yield;
    filled.push(yield* fillStep(step, (text) => replacePlaceholders(text, fill)));
  }
  return filled;

  function fill({ name, pattern }: Placeholder): string {
    if (++placeholders > limits.placeholdersMax) throw tooMany('placeholders', limits.placeholdersMax);
    const value = pattern === undefined ? read(name) : find(pattern);
    room -= value.length;
    // Checked before the text is built: a thousand long results in one string could exceed the memory of the process.
    if (room < 0) throw new InvalidInput('', `the answer has more than ${limits.answerCharsMax} characters`);
    return value;
  }

  /** Reads a value on demand: most turns do not need the long conversation. */
  function read(name: Placeholder['name']): string {
    const value = values.get(name) ?? readValue(name, conversation, agent);
    values.set(name, value);
    return value;
  }

  function find(pattern: string): string {
    if (++finds > limits.findsMax) throw tooMany('{{find:…}}', limits.findsMax);
    content ??= allUserContent(conversation);
    return findText(pattern, content, `{{find:${pattern}}}`, budget);
  }
}

function tooMany(what: string, most: number): InvalidInput {
  return new InvalidInput('', `a turn has more than ${most} ${what}: use fewer of them`);
}

function readValue(name: Placeholder['name'], conversation: Conversation, agent: string): string {
  const { messages } = conversation;
  switch (name) {
    case 'last_user':
      return lastUserText(conversation);
    case 'last_result':
      return resultsOf(messages.findLast((message) => resultsOf(message).length > 0)).at(-1)?.text ?? '';
    case 'results':
      return joinTexts(resultsOf(messages.at(-1)));
    case 'n':
      return String(countAnswers(conversation) + 1);
    case 'agent':
      return agent;
    default:
      return '';
  }
}

function lastUserText({ messages }: Conversation): string {
  for (const message of messages.toReversed()) {
    const text = message.role === 'user' ? textOf(withoutReminders(message)) : '';
    if (text !== '') return text;
  }
  return '';
}

/** Removes texts that the claude and Codex programs add to user messages, each in one element. */
function withoutReminders(message: Conversation['messages'][number]): Conversation['messages'][number] {
  return { ...message, blocks: message.blocks.filter((block) => block.type !== 'text' || !isReminder(block.text)) };
}

function isReminder(text: string): boolean {
  const element = text.trim();
  return REMINDERS.some(([start, end]) => {
    return element.length >= start.length + end.length && element.startsWith(start) && element.endsWith(end);
  });
}

const REMINDERS = [
  ['<system-reminder>', '</system-reminder>'],
  ['<environment_context>', '</environment_context>'],
  ['# AGENTS.md instructions for ', '</INSTRUCTIONS>'],
  ['<turn_aborted>', '</turn_aborted>'],
  ['<subagent_notification>', '</subagent_notification>'],
] as const;

type Fill = (text: string) => Generator<void, string>;

function* fillStep(step: Step, fill: Fill): Generator<void, Step> {
  switch (step.type) {
    case 'think':
    case 'say':
      return { ...step, text: yield* fill(step.text) };
    case 'call': {
      const name = yield* fill(step.name);
      // The cast: `mapStrings` converts an object to an object.
      return { ...step, name, input: (yield* mapStrings(step.input, fill)) as JsonObject };
    }
    case 'fail':
      return { ...step, errorType: yield* fill(step.errorType), message: yield* fill(step.message) };
    case 'expect':
      return {
        ...step,
        contains: yield* fillAll(step.contains, fill),
        toolResult: yield* fillAll(step.toolResult, fill),
        tools: yield* fillAll(step.tools, fill),
      };
    default:
      return step;
  }
}

function* fillAll(texts: readonly string[], fill: Fill): Generator<void, string[]> {
  const filled: string[] = [];
  for (const text of texts) filled.push(yield* fill(text));
  return filled;
}

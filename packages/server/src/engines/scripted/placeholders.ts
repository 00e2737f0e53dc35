import type { WorkBudget } from '../../base/bounded-pattern.ts';
import { allUserContent, type Conversation, countAnswers, joinTexts, resultsOf, textOf } from './conversation.ts';
import { type JsonObject, mapStrings } from './json.ts';
import { limits } from './limits.ts';
import { findText } from './match-text.ts';
import { Misfit } from './misfit.ts';
import { type Placeholder, replacePlaceholders } from './replace-placeholders.ts';
import type { Step, Turn } from './script.ts';

export interface FillingContext {
  readonly conversation: Conversation;
  /** The name of the agent that asks, empty if unknown. */
  readonly agent: string;
  /** For what it looks for. */
  readonly budget: WorkBudget;
}

/** The turn with its placeholders filled in from the conversation. What was filled in is not looked at again. */
export function fillPlaceholders(turn: Turn, { conversation, agent, budget }: FillingContext): Turn {
  const values = readValues(conversation, agent);
  let room: number = limits.answerCharsMax;
  let content: string | undefined;
  let [placeholders, finds] = [0, 0];
  return turn.map((step) => fillStep(step, (text) => replacePlaceholders(text, fill)));

  function fill({ name, pattern }: Placeholder): string {
    if (++placeholders > limits.placeholdersMax) throw tooMany('placeholders', limits.placeholdersMax);
    const value = pattern === undefined ? (values[name] ?? '') : find(pattern);
    room -= value.length;
    // Said before the text is built: a thousand long results in one string are more than the process can hold.
    if (room < 0) throw new Misfit('', `the answer has more than ${limits.answerCharsMax} characters`);
    return value;
  }

  function find(pattern: string): string {
    if (++finds > limits.findsMax) throw tooMany('{{find:…}}', limits.findsMax);
    content ??= allUserContent(conversation);
    return findText(pattern, content, `{{find:${pattern}}}`, budget);
  }
}

function tooMany(what: string, most: number): Misfit {
  return new Misfit('', `a turn has more than ${most} ${what}: use fewer of them`);
}

function readValues(conversation: Conversation, agent: string): Readonly<Record<string, string>> {
  const { messages } = conversation;
  return {
    last_user: lastUserText(conversation),
    last_result: resultsOf(messages.findLast((message) => resultsOf(message).length > 0)).at(-1)?.text ?? '',
    results: joinTexts(resultsOf(messages.at(-1))),
    n: String(countAnswers(conversation) + 1),
    agent,
  };
}

function lastUserText({ messages }: Conversation): string {
  const users = messages.filter(({ role }) => role === 'user').map(withoutReminders);
  return textOf(users.findLast((message) => textOf(message) !== ''));
}

/** The claude program adds texts of its own to what the user says, each in one element. */
function withoutReminders(message: Conversation['messages'][number]): Conversation['messages'][number] {
  const isReminder = (text: string) => /^\s*<system-reminder>[^]*<\/system-reminder>\s*$/.test(text);
  return { ...message, blocks: message.blocks.filter((block) => block.type !== 'text' || !isReminder(block.text)) };
}

function fillStep(step: Step, fill: (text: string) => string): Step {
  switch (step.type) {
    case 'think':
    case 'say':
      return { ...step, text: fill(step.text) };
    case 'call':
      // The cast is what mapStrings does: an object stays one.
      return { ...step, name: fill(step.name), input: mapStrings(step.input, fill) as JsonObject };
    case 'fail':
      return { ...step, errorType: fill(step.errorType), message: fill(step.message) };
    case 'expect':
      return {
        ...step,
        contains: step.contains.map(fill),
        toolResult: step.toolResult.map(fill),
        tools: step.tools.map(fill),
      };
    default:
      return step;
  }
}

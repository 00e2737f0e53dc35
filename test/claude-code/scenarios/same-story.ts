import type { Call, Item, Story, ThreadStory } from './story.ts';

export interface ComparisonOptions {
  /** The names of the two sides in the differences. */
  readonly names: readonly [expected: string, actual: string];
  /** Whether a turn was cut off by an interrupt, a crash or a restart: calls without a result may be closed as interrupted. */
  readonly isDisturbed: boolean;
}

/** Every difference between two stories in a form for people; none if they are the same. */
export function findDifferences(expected: Story, actual: Story, options: ComparisonOptions): string[] {
  const [expectedName, actualName] = options.names;
  const keys = new Set([...expected.threads.keys(), ...actual.threads.keys()]);
  const found = [...keys].flatMap((key) => {
    const [one, other] = [expected.threads.get(key), actual.threads.get(key)];
    if (one === undefined && options.isDisturbed && isOnlyPrinted(other!)) return [];
    if (one === undefined) return [`thread ${key} is not in the ${expectedName}:`, ...show(other!, '+')];
    if (other === undefined) return [`thread ${key} is not in the ${actualName}:`, ...show(one, '-')];
    return compareThreads(one, other, options);
  });
  return [
    ...expected.problems.map((problem) => `the ${expectedName}: ${problem}`),
    ...actual.problems.map((problem) => `the ${actualName}: ${problem}`),
    ...found,
  ];
}

function compareThreads(expected: ThreadStory, actual: ThreadStory, options: ComparisonOptions): string[] {
  const { key } = expected;
  const [expectedName, actualName] = options.names;
  const parents =
    expected.parent === actual.parent
      ? []
      : [
          `thread ${key}: its parent is ${expected.parent} in the ${expectedName}, ${actual.parent} in the ${actualName}`,
        ];
  const isEqual = (one: Item, other: Item) =>
    isSame(
      one,
      options.isDisturbed && actual.resolvedBeforeKill?.has(other) ? withoutLost(one, other) : other,
      options,
    );
  const lines = align(expected.items, actual.items, isEqual);
  // Messages are compared apart: the log has them when they are sent, the transcript when they are taken up.
  const compared = align(withoutInputs(expected), withoutInputs(actual), isEqual);
  const extra = options.isDisturbed ? new Set([...(actual.unfinished ?? []), ...findLost(compared, actual)]) : NONE;
  const isAllowed = ({ side, item }: Line) =>
    side === ' ' ||
    (side === '+' && item.kind === 'refusal') ||
    // The program writes down that its model request was cut off when the server closed it.
    (options.isDisturbed && side === '-' && item.kind === 'error') ||
    (side === '+' && extra.has(item));
  const lost = new Set(options.isDisturbed ? findLost(lines, actual) : []);
  const given = actual.items.filter((item) => item.kind !== 'input' || !lost.has(item));
  const isWrong =
    !compared.every(isAllowed) || !areInputsInTime(expected, { ...actual, items: given, unfinished: extra });
  if (!isWrong) return parents;
  const head = `thread ${key} (- only in the ${expectedName}, + only in the ${actualName}):`;
  return [...parents, head, ...lines.map(({ side, item }) => `  ${side} ${toLine(item)}`)];
}

/** Whether the program had only printed the agent, and not yet written it, when it was killed. */
function isOnlyPrinted({ items, beforeKill, unfinished }: ThreadStory): boolean {
  return items.every((item) => beforeKill?.has(item) === true || unfinished?.has(item) === true);
}

/**
 * The items that the program had printed but not yet written when it was killed. The program writes in the order in which it prints, so
 * these are the last items of a thread before the kill: none that the transcript has comes after them.
 */
function findLost(lines: readonly Line[], { beforeKill = NONE }: ThreadStory): Item[] {
  const lastWritten = lines.findLastIndex(({ side, actual }) => side === ' ' && beforeKill.has(actual!));
  return lines.slice(lastWritten + 1).flatMap(({ side, item }) => (side === '+' && beforeKill.has(item) ? [item] : []));
}

/**
 * A result that the program had printed and not yet written when it was killed is left out. The transcript has no result then, or
 * the one that the next program writes when it resumes the conversation (2.1.325).
 */
function withoutLost(expected: Item, actual: Item): Item {
  if (expected.kind !== 'call' || actual.kind !== 'call') return actual;
  const isLost = expected.result === null || LOST.test(expected.result.content);
  return isLost ? { ...actual, result: expected.result } : actual;
}

const LOST = /^\[Tool call interrupted: the session ended before this call's result was recorded/;
/** The result that 2.1.197 prints for a call that waits for permission when its input is closed. */
const UNANSWERED = 'Tool permission request failed: Error: Tool permission stream closed before response received';
const NONE: ReadonlySet<Item> = new Set();

function withoutInputs({ items }: ThreadStory): Item[] {
  return items.filter(({ kind }) => kind !== 'input');
}

/** Whether the same messages come in the same order, and none later than where it was taken up. */
function areInputsInTime(expected: ThreadStory, actual: ThreadStory): boolean {
  const rest = inputPositions(actual);
  const isInTime = inputPositions(expected).every(({ text, before }) => {
    const given = rest.splice(0, countJoined(text, rest));
    return given.length > 0 && given.every((each) => each.before <= before);
  });
  return isInTime && rest.length === 0;
}

/** How many of the first messages this one is: the program joins those that it takes up at once. */
function countJoined(text: string, given: readonly { readonly text: string }[]): number {
  for (let [count, joined] = [1, text]; count <= given.length; count++) {
    const next = given[count - 1]!.text;
    if (joined === next) return count;
    if (!joined.startsWith(next)) return 0;
    joined = joined.slice(next.length).replace(/^\n/, '');
  }
  return 0;
}

function inputPositions({ items, unfinished }: ThreadStory): { readonly text: string; readonly before: number }[] {
  let before = 0;
  return items.flatMap((item) => {
    if (item.kind === 'input') return [{ text: item.text, before }];
    if (unfinished?.has(item) !== true) before++;
    return [];
  });
}

function isSame(expected: Item, actual: Item, { isDisturbed }: ComparisonOptions): boolean {
  // The server says more than the program: which agent it was, and what to do.
  if (expected.kind === 'error' && (actual.kind === 'error' || actual.kind === 'refusal'))
    return actual.text.includes(expected.text);
  if (expected.kind !== 'call' || actual.kind !== 'call') return toLine(expected, false) === toLine(actual, false);
  const isSameCall = expected.id === actual.id && expected.name === actual.name && expected.input === actual.input;
  return isSameCall && isSameResult(expected, actual, isDisturbed);
}

function isSameResult({ name, result: expected }: Call, { result: actual }: Call, isDisturbed: boolean): boolean {
  // The program ran nothing, or wrote afterwards that it was stopped.
  if (actual?.isInterrupted === true && expected?.isInterrupted !== true)
    return isDisturbed && (expected === null || expected.isError);
  // Its process died before the rest of it: the program printed that the answer can no longer arrive, and did not write it.
  if (isDisturbed && actual?.isError === true && actual.content === UNANSWERED && expected === null) return true;
  if (expected === null || actual === null) return expected === actual;
  if (expected.isError !== actual.isError || expected.isInterrupted !== actual.isInterrupted) return false;
  // The log has what the person answered, the transcript the sentence that the program made of it.
  if (name === 'AskUserQuestion') return toAnswers(actual.content).every((each) => expected.content.includes(each));
  return actual.isGiven === true ? expected.content.startsWith(actual.content) : expected.content === actual.content;
}

/** The answers in a text, which may be a JSON object of answers by question. */
function toAnswers(content: string): string[] {
  return content.startsWith('{') ? Object.values(JSON.parse(content) as Record<string, string>) : [content];
}

interface Line {
  readonly side: ' ' | '-' | '+';
  readonly item: Item;
  /** The matching item of the other side. */
  readonly actual?: Item;
}

/** The longest common subsequence, and what is missing from it on either side. */
function align(expected: readonly Item[], actual: readonly Item[], isEqual: (one: Item, other: Item) => boolean) {
  const lengths = Array.from({ length: expected.length + 1 }, () => Array.from(actual, () => 0).concat(0));
  for (let i = expected.length - 1; i >= 0; i--) {
    for (let j = actual.length - 1; j >= 0; j--) {
      const both = isEqual(expected[i]!, actual[j]!) ? 1 + lengths[i + 1]![j + 1]! : 0;
      lengths[i]![j] = Math.max(both, lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < expected.length || j < actual.length) {
    const [one, other] = [expected[i], actual[j]];
    if (one !== undefined && other !== undefined && isEqual(one, other)) {
      lines.push({ side: ' ', item: one, actual: other });
      [i, j] = [i + 1, j + 1];
    } else if (other === undefined || (one !== undefined && lengths[i + 1]![j]! >= lengths[i]![j + 1]!)) {
      lines.push({ side: '-', item: one! });
      i++;
    } else {
      lines.push({ side: '+', item: other });
      j++;
    }
  }
  return lines;
}

function show({ items }: ThreadStory, side: '-' | '+'): string[] {
  return items.map((item) => `  ${side} ${toLine(item)}`);
}

const SHOWN_CHARS = 160;

function toLine(item: Item, isCut = true): string {
  const cut = (text: string) =>
    isCut && text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}… (${text.length})` : text;
  if (item.kind !== 'call') return `${item.kind} ${cut(JSON.stringify(item.text))}`;
  const { id, name, input, result } = item;
  const how = result === null ? 'no result' : result.isInterrupted ? 'interrupted' : result.isError ? 'error' : 'ok';
  return `call ${id} ${name} ${cut(input)} -> ${how} ${cut(JSON.stringify(result?.content ?? ''))}`;
}

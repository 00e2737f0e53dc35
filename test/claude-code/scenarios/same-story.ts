import type { Call, Item, Story, ThreadStory } from './story.ts';

export interface ComparisonOptions {
  /** What the two sides are called in the differences. */
  readonly names: readonly [expected: string, actual: string];
  /** A turn was cut off by an interrupt, a crash or a restart: calls without a result may be closed as interrupted. */
  readonly isDisturbed: boolean;
}

/** Every difference between two stories in a form for people; none if they are the same. */
export function findDifferences(expected: Story, actual: Story, options: ComparisonOptions): string[] {
  const [expectedName, actualName] = options.names;
  const keys = new Set([...expected.threads.keys(), ...actual.threads.keys()]);
  const found = [...keys].flatMap((key) => {
    const [one, other] = [expected.threads.get(key), actual.threads.get(key)];
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
  const isEqual = (one: Item, other: Item) => isSame(one, other, options);
  const lines = align(expected.items, actual.items, isEqual);
  const isAllowed = ({ side, item }: Line) =>
    side === ' ' ||
    (side === '+' && item.kind === 'refusal') ||
    // The program writes down that its model request was cut off when the server closed it.
    (options.isDisturbed && side === '-' && item.kind === 'error') ||
    (options.isDisturbed && side === '+' && actual.unfinished?.has(item) === true);
  // Messages are compared apart: the log has them when they are sent, the transcript when they are taken up.
  const isRight = align(withoutTold(expected), withoutTold(actual), isEqual).every(isAllowed);
  const isWrong = !isRight || !isToldInTime(expected, actual);
  if (!isWrong) return parents;
  const head = `thread ${key} (- only in the ${expectedName}, + only in the ${actualName}):`;
  return [...parents, head, ...lines.map(({ side, item }) => `  ${side} ${toLine(item)}`)];
}

function withoutTold({ items }: ThreadStory): Item[] {
  return items.filter(({ kind }) => kind !== 'told');
}

/** Whether the same messages come in the same order, and none later than where it was taken up. */
function isToldInTime(expected: ThreadStory, actual: ThreadStory): boolean {
  const [one, other] = [placesOfTold(expected), placesOfTold(actual)];
  return (
    one.length === other.length &&
    one.every(({ text, before }, at) => text === other[at]!.text && other[at]!.before <= before)
  );
}

function placesOfTold({ items, unfinished }: ThreadStory): { readonly text: string; readonly before: number }[] {
  let before = 0;
  return items.flatMap((item) => {
    if (item.kind === 'told') return [{ text: item.text, before }];
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
  if (actual?.isInterrupted === true) return isDisturbed && (expected === null || expected.isError);
  if (expected === null || actual === null) return expected === actual;
  if (expected.isError !== actual.isError) return false;
  // The log has what the person answered, the transcript the sentence that the program made of it.
  if (name === 'AskUserQuestion') return expected.content.includes(actual.content);
  return expected.content === actual.content;
}

interface Line {
  readonly side: ' ' | '-' | '+';
  readonly item: Item;
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
      lines.push({ side: ' ', item: one });
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

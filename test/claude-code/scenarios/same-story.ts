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
  const lines = align(expected.items, actual.items, (one, other) => isSame(one, other, options));
  if (lines.every(({ side }) => side === ' ')) return parents;
  const head = `thread ${key} (- only in the ${expectedName}, + only in the ${actualName}):`;
  return [...parents, head, ...lines.map(({ side, item }) => `  ${side} ${toLine(item)}`)];
}

function isSame(expected: Item, actual: Item, { isDisturbed }: ComparisonOptions): boolean {
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
  const lengths = Array.from({ length: expected.length + 1 }, () => new Array<number>(actual.length + 1).fill(0));
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

/** A line of a diff. */
export interface DiffLine {
  readonly type: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** A line diff by the longest common subsequence; for very long texts only equal beginnings and ends are found. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [left, right] = [toLines(before), toLines(after)];
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  let end = 0;
  while (end < left.length - start && end < right.length - start && left.at(-1 - end) === right.at(-1 - end)) end++;
  const [oldPart, newPart] = [left.slice(start, left.length - end), right.slice(start, right.length - end)];
  const same = (text: string): DiffLine => ({ type: 'same', text });
  return [
    ...left.slice(0, start).map(same),
    ...diffMiddle(oldPart, newPart),
    ...right.slice(right.length - end).map(same),
  ];
}

function toLines(text: string): readonly string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

function diffMiddle(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const removed = (text: string): DiffLine => ({ type: 'removed', text });
  const added = (text: string): DiffLine => ({ type: 'added', text });
  if (before.length * after.length > CELLS_MAX) return [...before.map(removed), ...after.map(added)];
  // lengths[i][j]: length of the longest common subsequence of before[i…] and after[j…].
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const isEqual = before[i] === after[j];
      lengths[i]![j] = isEqual ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      lines.push({ type: 'same', text: before[i]! });
      i++;
      j++;
    } else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) lines.push(removed(before[i++]!));
    else lines.push(added(after[j++]!));
  }
  return [...lines, ...before.slice(i).map(removed), ...after.slice(j).map(added)];
}

const CELLS_MAX = 1_000_000;

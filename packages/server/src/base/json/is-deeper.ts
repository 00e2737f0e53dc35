/**
 * Whether a value that was parsed from JSON is nested deeper than a number of levels. Level by level: a function that calls
 * itself would run out of stack, as serializing the value does.
 */
export function isDeeper(value: unknown, levelsMax: number): boolean {
  let level = [value].filter(isNested);
  for (let depth = 0; depth < levelsMax && level.length > 0; depth++) {
    level = level.flatMap((each) => Object.values(each).filter(isNested));
  }
  return level.length > 0;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

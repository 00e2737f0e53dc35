/** Compares two versions for `sort`: below 0, 0 or above 0. A suffix after the three numbers is ignored. */
export function compareVersions(a: string, b: string): number {
  const left = toNumbers(a);
  const right = toNumbers(b);
  for (const [at, number] of left.entries()) {
    if (number !== right[at]) return number - (right[at] ?? 0);
  }
  return 0;
}

function toNumbers(version: string): number[] {
  const [, ...parts] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  return [0, 1, 2].map((at) => Number(parts[at] ?? 0));
}

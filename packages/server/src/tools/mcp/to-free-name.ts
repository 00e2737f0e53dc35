/** The name itself, or with a number behind it if it is taken; never longer than allowed. */
export function toFreeName(wanted: string, isTaken: (name: string) => boolean, charsMax: number): string {
  let name = wanted.slice(0, charsMax);
  for (let count = 2; isTaken(name); count++) {
    const end = `_${count}`;
    name = wanted.slice(0, charsMax - end.length) + end;
  }
  return name;
}

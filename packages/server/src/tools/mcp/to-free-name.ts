/** The name, or if it is taken the name with a number appended; never longer than allowed. */
export function toFreeName(wanted: string, isTaken: (name: string) => boolean, charsMax: number): string {
  const whole = wanted.slice(0, charsMax);
  if (!isTaken(whole)) return whole;
  const withNumber = (count: number): string => {
    const end = `_${count}`;
    return wanted.slice(0, charsMax - end.length) + end;
  };
  // Numbers are taken one after the other, so the first that is free is found by halving: a thousand tools of one name
  // would otherwise look at half a million names.
  let [taken, free] = [1, 2];
  while (isTaken(withNumber(free))) [taken, free] = [free, free * 2];
  while (free - taken > 1) {
    const middle = Math.floor((taken + free) / 2);
    if (isTaken(withNumber(middle))) taken = middle;
    else free = middle;
  }
  return withNumber(free);
}

/** Something that a caller has made, and of which there is a limited number. */
export interface Made {
  readonly id: string;
  readonly maker: string;
}

/** How many there may be of one maker, and in total. */
export interface MadeLimits {
  readonly ofMakerMax: number;
  readonly max: number;
}

/**
 * Which have to go, so that there is room for one more of a maker: its own oldest first. Only a maker that has none takes the place of
 * another one's, the oldest of the maker that has the most. `all` is in order, the oldest first.
 */
export function findReplaced(all: readonly Made[], maker: string, { ofMakerMax, max }: MadeLimits): readonly string[] {
  const own = all.filter((each) => each.maker === maker);
  const replaced = own.splice(0, Math.max(0, own.length - ofMakerMax + 1)).map(({ id }) => id);
  const surplus = all.length - replaced.length - max + 1;
  if (surplus <= 0) return replaced;
  replaced.push(...own.splice(0, surplus).map(({ id }) => id));
  const others = all.filter((each) => each.maker !== maker);
  for (let left = all.length - replaced.length - max + 1; left > 0; left--) {
    const heaviest = findHeaviest(others);
    if (heaviest === undefined) break;
    const [oldest] = others.splice(
      others.findIndex((each) => each.maker === heaviest),
      1,
    );
    replaced.push(oldest!.id);
  }
  return replaced;
}

function findHeaviest(all: readonly Made[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { maker } of all) counts.set(maker, (counts.get(maker) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0];
}

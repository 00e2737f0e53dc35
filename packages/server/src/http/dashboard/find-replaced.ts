/** A record of a caller, whose number is limited. */
export interface Made {
  readonly id: string;
  readonly maker: string;
}

/** How many records one maker may have, and how many there may be in total. */
export interface MadeLimits {
  readonly ofMakerMax: number;
  readonly max: number;
}

/**
 * Finds the records to remove so that a maker can add one: its own oldest first. Only a maker without records replaces a record of
 * another maker: the oldest of the maker with the most records. `all` is sorted, the oldest first.
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

/** The problems found in a session, with counts. */
export class Findings {
  readonly problems: string[] = [];
  lost = 0;
  doubled = 0;
  gaps = 0;
  readonly #sessionId: string;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** Compares an expected with an actual sequence. */
  compare(what: string, wanted: readonly string[], got: readonly string[]): void {
    const missing = subtract(wanted, got);
    const surplus = subtract(got, wanted);
    this.lost += missing.length;
    this.doubled += surplus.length;
    const at = wanted.findIndex((each, index) => each !== got[index]);
    if (at === -1 && wanted.length === got.length) return;
    const pair = [wanted[at] ?? null, got[at === -1 ? wanted.length : at] ?? null].map((text) => text?.slice(0, 300));
    const counts = `${missing.length} lost, ${surplus.length} doubled of ${wanted.length}`;
    this.problems.push(`${this.#sessionId}: ${what}: ${counts}, different at ${at}: ${JSON.stringify(pair)}`);
  }

  /** All problems, including gaps of `seq`. */
  toProblems(): readonly string[] {
    return this.gaps === 0 ? this.problems : [`${this.#sessionId}: ${this.gaps} gaps in seq`, ...this.problems];
  }
}

/** The items that the first list has more often than the second. */
function subtract(from: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const each of others) left.set(each, (left.get(each) ?? 0) + 1);
  return from.filter((each) => {
    const count = left.get(each) ?? 0;
    if (count > 0) left.set(each, count - 1);
    return count === 0;
  });
}

/**
 * What time it is on the server. Clocks of two machines differ, by hours where one of them is wrong, and events carry the
 * server's time: ages, stalls and delays are told by its clock (SPEC Y80).
 */
export class ServerClock {
  /** How much the server's clock is ahead of ours, at least and at most, as far as that is known. */
  #atLeastMs = Number.NEGATIVE_INFINITY;
  #atMostMs = Number.POSITIVE_INFINITY;

  /** An answer says when it was made, to the second. It was made between these two moments of ours. */
  sawAnswer(date: string | null, sentAtMs: number, receivedAtMs: number): void {
    const madeAtMs = date === null ? Number.NaN : Date.parse(date);
    if (Number.isNaN(madeAtMs)) return;
    this.#narrow(madeAtMs - receivedAtMs, madeAtMs + 1_000 - sentAtMs);
  }

  /** Something that happened there at this time has arrived. */
  sawEvent(happenedAtMs: number, receivedAtMs: number): void {
    this.#narrow(happenedAtMs - receivedAtMs, Number.POSITIVE_INFINITY);
  }

  /** Where the clocks may agree, they do; else the difference is taken from the middle of what it can be. */
  toServerTime(ourMs: number): number {
    const [least, most] = [this.#atLeastMs, this.#atMostMs];
    if (least <= 0 && most >= 0) return ourMs;
    return ourMs + (Number.isFinite(least + most) ? (least + most) / 2 : Math.max(least, Math.min(0, most)));
  }

  #narrow(atLeastMs: number, atMostMs: number): void {
    const isSet = atLeastMs > this.#atMostMs || atMostMs < this.#atLeastMs;
    // One of the clocks was set meanwhile: what was known before is of no use.
    this.#atLeastMs = isSet ? atLeastMs : Math.max(this.#atLeastMs, atLeastMs);
    this.#atMostMs = isSet ? atMostMs : Math.min(this.#atMostMs, atMostMs);
  }
}

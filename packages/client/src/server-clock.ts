/**
 * The time on the server. Clocks of two machines differ, by hours if one of them is wrong, and events have the
 * server's time: ages, stalls and delays are computed with its clock (SPEC Y80).
 */
export class ServerClock {
  /** How far the server's clock is ahead of the local clock: the known lower and upper bound. */
  #atLeastMs = Number.NEGATIVE_INFINITY;
  #atMostMs = Number.POSITIVE_INFINITY;

  /** Updates the bounds from the `date` header of a response, which is exact to the second, and the times of the request and the response. */
  sawAnswer(date: string | null, sentAtMs: number, receivedAtMs: number): void {
    const madeAtMs = date === null ? Number.NaN : Date.parse(date);
    if (Number.isNaN(madeAtMs)) return;
    this.#narrow(madeAtMs - receivedAtMs, madeAtMs + 1_000 - sentAtMs);
  }

  /** Updates the bounds from the time of an event, and when it arrived. */
  sawEvent(happenedAtMs: number, receivedAtMs: number): void {
    this.#narrow(happenedAtMs - receivedAtMs, Number.POSITIVE_INFINITY);
  }

  /** Converts a local time to the server's. If the clocks may agree, they count as equal; otherwise the middle of the bounds is used. */
  toServerTime(ourMs: number): number {
    const [least, most] = [this.#atLeastMs, this.#atMostMs];
    if (least <= 0 && most >= 0) return ourMs;
    return ourMs + (Number.isFinite(least + most) ? (least + most) / 2 : Math.max(least, Math.min(0, most)));
  }

  #narrow(atLeastMs: number, atMostMs: number): void {
    const isSet = atLeastMs > this.#atMostMs || atMostMs < this.#atLeastMs;
    // One of the clocks was set in the meantime: the earlier bounds are wrong.
    this.#atLeastMs = isSet ? atLeastMs : Math.max(this.#atLeastMs, atLeastMs);
    this.#atMostMs = isSet ? atMostMs : Math.min(this.#atMostMs, atMostMs);
  }
}

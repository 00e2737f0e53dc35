/**
 * The time on the server. Clocks of two machines differ, by hours where one of them is wrong, and events carry the
 * server's time: ages, stalls and delays are computed with its clock (SPEC Y80).
 */
export class ServerClock {
  /** How far the server's clock is ahead of ours: the known lower and upper bound. */
  #atLeastMs = Number.NEGATIVE_INFINITY;
  #atMostMs = Number.POSITIVE_INFINITY;

  /** Takes the `date` header of a response, which is exact to the second, and when its request was sent and it arrived. */
  sawAnswer(date: string | null, sentAtMs: number, receivedAtMs: number): void {
    const madeAtMs = date === null ? Number.NaN : Date.parse(date);
    if (Number.isNaN(madeAtMs)) return;
    this.#narrow(madeAtMs - receivedAtMs, madeAtMs + 1_000 - sentAtMs);
  }

  /** Takes the time of an event, and when it arrived. */
  sawEvent(happenedAtMs: number, receivedAtMs: number): void {
    this.#narrow(happenedAtMs - receivedAtMs, Number.POSITIVE_INFINITY);
  }

  /** The server's time. If the clocks may agree they are taken as equal; otherwise the middle of the bounds is used. */
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

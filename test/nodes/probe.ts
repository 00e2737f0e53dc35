/** The observations of a client without retries. */
export interface Seen {
  /** The longest time without a successful response, in milliseconds. */
  readonly outageMs: number;
  /** Failures by status; 0 where none arrived. */
  readonly failures: ReadonlyMap<number, number>;
  /** Failed requests without `retry-after`, and the longest time until a rejection with it. */
  readonly withoutRetryAfter: number;
  readonly slowestRejectionMs: number;
}

/** Sends one request after the other until it is ended, none of them again. */
export function probe(send: () => Promise<Response>): { end(): Promise<Seen> } {
  const leaving = new AbortController();
  const failures = new Map<number, number>();
  let outageMs = 0;
  let withoutRetryAfter = 0;
  let slowestRejectionMs = 0;
  let succeededAt = performance.now();
  let heldMs = 0;
  const run = async () => {
    while (!leaving.signal.aborted) {
      const since = performance.now();
      const response = await send().catch(() => undefined);
      await response?.arrayBuffer().catch(() => undefined);
      const now = performance.now();
      if (response?.ok === true) {
        // Time in which this process was stopped is not an outage of the server.
        outageMs = Math.max(outageMs, now - succeededAt - heldMs);
        succeededAt = now;
        heldMs = 0;
      } else {
        const status = response?.status ?? 0;
        failures.set(status, (failures.get(status) ?? 0) + 1);
        if (response?.headers.get('retry-after') == null) withoutRetryAfter += 1;
        else slowestRejectionMs = Math.max(slowestRejectionMs, now - since);
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      heldMs += Math.max(0, performance.now() - now - PAUSE_MS);
    }
  };
  const running = run();
  return {
    end: async () => {
      leaving.abort();
      await running;
      return { outageMs, failures, withoutRetryAfter, slowestRejectionMs };
    },
  };
}

const PAUSE_MS = 20;

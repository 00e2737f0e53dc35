import { ServerClock } from '@fleetloom/client';

/** The server's clock, estimated from responses and events that this page or worker received. */
export const clock = new ServerClock();

/** The current server time. Events carry it, and ages, stalls and the end of the lanes are computed with it (SPEC Z300). */
export function serverNow(): number {
  return clock.toServerTime(Date.now());
}

/** `fetch` that also updates the clock from the response. */
export const timedFetch: typeof fetch = async (input, init) => {
  const sentAtMs = Date.now();
  const response = await fetch(input, init);
  clock.sawAnswer(response.headers.get('date'), sentAtMs, Date.now());
  return response;
};

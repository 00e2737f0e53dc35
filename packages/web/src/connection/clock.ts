import { ServerClock } from '@fleetloom/client';

/** What time it is on the server, as far as this page or worker has heard of it. */
export const clock = new ServerClock();

/** The server's time: what events carry, and what ages, stalls and the end of the lanes are told by (SPEC Z300). */
export function serverNow(): number {
  return clock.toServerTime(Date.now());
}

/** Asks the server, and learns its time from the answer. */
export const timedFetch: typeof fetch = async (input, init) => {
  const sentAtMs = Date.now();
  const response = await fetch(input, init);
  clock.sawAnswer(response.headers.get('date'), sentAtMs, Date.now());
  return response;
};

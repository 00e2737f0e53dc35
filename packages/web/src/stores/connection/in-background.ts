/** The only way to drop a promise in the dashboard: a rejection is logged to the console. */
export function inBackground(work: Promise<unknown>): void {
  work.catch((error: unknown) => console.error(error));
}

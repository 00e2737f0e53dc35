/** The only way to drop a promise in the dashboard: a failure that the work itself does not show goes to the console. */
export function inBackground(work: Promise<unknown>): void {
  work.catch((error: unknown) => console.error(error));
}

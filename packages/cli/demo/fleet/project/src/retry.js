/** How long to wait before the next attempt: 1 s, 2 s, 4 s … */
export function retryDelay(attempts, { base = 1000 } = {}) {
  // TODO: add a random part, or a thousand jobs that failed together come back together.
  return base * 2 ** attempts;
}

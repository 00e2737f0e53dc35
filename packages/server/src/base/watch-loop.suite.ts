/**
 * Measures the longest uninterrupted work of the event loop in ms of CPU time. Returns the function that stops the measurement
 * and returns the result.
 */
export function watchLoop(): () => number {
  const read = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  let last = read();
  let most = 0;
  const timer = setInterval(note, 1);
  return () => {
    note();
    clearInterval(timer);
    return most;
  };

  function note(): void {
    const now = read();
    most = Math.max(most, now - last);
    last = now;
  }
}

/** The processor time that a synchronous function takes, in milliseconds. The time that passes also depends on what else the machine does. */
export function cpuMsOf<Result>(run: () => Result): { readonly result: Result; readonly cpuMs: number } {
  const before = process.cpuUsage();
  const result = run();
  const { user, system } = process.cpuUsage(before);
  return { result, cpuMs: (user + system) / 1_000 };
}

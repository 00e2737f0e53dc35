import { exitCode } from './exit-code.ts';
import type { Io } from './io.ts';
import { limits } from './limits.ts';

/**
 * What a server process does with an error that no code handles: logs it with its stack, closes the server so that
 * everything accepted is on the disk, and exits with a code of its own. Reaching this is a defect, which is why the code
 * differs from that of every foreseen failure.
 *
 * Returns the function that uninstalls it.
 */
export function installLastResort(io: Io, server: { close(): Promise<void> }): () => void {
  let isEnding = false;
  return io.onUncaught((error) => {
    io.stderr.write(`fleetloom: unexpected error, please report it: ${describe(error)}\n`);
    // A second error while closing: there is nothing left to try.
    if (isEnding) return io.exitNow(exitCode.unexpected);
    isEnding = true;
    const exit = () => io.exitNow(exitCode.unexpected);
    io.timers.after(limits.lastResortMs, exit);
    server.close().then(exit, exit);
  });
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';

/**
 * Handles an error that no other code handles: logs it with its stack, closes the server so that everything accepted is on
 * disk, and exits with a code of its own. Reaching this is a defect, so the code differs from every expected failure.
 * Returns the function that uninstalls the handler.
 */
export function installLastResort(io: Io, server: { close(): Promise<void> }): () => void {
  let isEnding = false;
  return io.onUncaught((error) => {
    io.stderr.write(`fleetloom: unexpected error, please report it: ${describe(error)}\n`);
    // A second error while closing: exit immediately.
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

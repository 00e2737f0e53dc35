import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import { limits } from '../base/limits.ts';
import type { ServerApi } from '../connection/server-api.ts';

/**
 * Interrupts a session whose `fleetloom run` was killed. The server of the command takes over the session, records the
 * files of the interrupted turn, and would continue it; the user wants the changes, not more work.
 */
export async function settleSession(api: ServerApi, path: string, waitMs: number = limits.settleMs): Promise<void> {
  const endsAt = performance.now() + waitMs;
  let isInterrupted = false;
  for (;;) {
    const { id, status } = await api.get<{ readonly id: string; readonly status: string }>(path);
    if (status !== 'running' && status !== 'rescheduling') return;
    if (!isInterrupted) await api.post(`${path}/events`, { events: [{ type: 'user.interrupt' }] });
    isInterrupted = true;
    if (performance.now() >= endsAt) {
      const problem = `${id} was interrupted, and is still ${status} after ${waitMs / 1_000} s.`;
      throw new CommandError(exitCode.failed, problem, 'Repeat the command.');
    }
    await sleep(limits.settlePollMs);
  }
}

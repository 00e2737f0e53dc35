import type { FleetloomServer } from '@fleetloom/server';
import type { Io } from '../base/io.ts';
import { onEndingSignal } from '../base/until-signal.ts';

/**
 * Reports `stopping` on `/readyz` for the given time while requests are still served, so that a load balancer stops sending
 * requests before the listener closes. Another signal ends the wait.
 */
export async function drain(
  io: Pick<Io, 'onSignal' | 'timers'>,
  server: Pick<FleetloomServer, 'announceStop'>,
  seconds: number,
): Promise<void> {
  if (seconds === 0) return;
  server.announceStop();
  await new Promise<void>((resolve) => {
    const cancelTimer = io.timers.after(seconds * 1_000, end);
    const removeHandlers = onEndingSignal(io, end);

    function end(): void {
      cancelTimer();
      removeHandlers();
      resolve();
    }
  });
}

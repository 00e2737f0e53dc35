import type { NewSessionFrame } from '../frames/frames.ts';
import type { SessionLog } from '../log/log.ts';
import type { NewFrame } from '../store/frame.ts';
import { sessionOf, type Write } from '../store/write.ts';
import { isDeliverable } from './to-webhook-events.ts';

/**
 * Wraps a log to report each session whose committed frames become webhook events. Webhooks need not read every delta
 * to find the few frames that matter.
 */
export function watchLog(log: SessionLog, onDeliverable: (sessionId: string) => void): SessionLog {
  return {
    ...log,
    append: async (write) => {
      // Checked before the write: the caller may change its frames afterwards.
      const hasNews = write.type === 'delete' || hasDeliverable(write);
      const appended = await log.append(write);
      if (hasNews) onDeliverable(sessionOf(write));
      return appended;
    },
  };
}

function hasDeliverable(write: Write<NewFrame>): boolean {
  // Only sessions write to the log.
  return 'frames' in write && (write.frames as readonly NewSessionFrame[]).some(isDeliverable);
}

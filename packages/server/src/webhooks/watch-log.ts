import type { NewSessionFrame } from '../frames/frames.ts';
import type { SessionLog } from '../store/log.ts';
import type { NewFrame } from '../store/frame.ts';
import { sessionOf, type Write } from '../store/write.ts';
import { isTold } from './to-webhook-events.ts';

/**
 * The same log, which says of what became durable whether it is to be told. So nobody reads along with every token to find
 * the few frames that are.
 */
export function watchLog(log: SessionLog, onTold: (sessionId: string) => void): SessionLog {
  return {
    ...log,
    append: async (write) => {
      // Before it is written: the frames are the writer's, who may change them.
      const hasNews = write.type === 'delete' || hasTold(write);
      const appended = await log.append(write);
      if (hasNews) onTold(sessionOf(write));
      return appended;
    },
  };
}

function hasTold(write: Write<NewFrame>): boolean {
  // Only sessions write to the log, and they write these.
  return 'frames' in write && (write.frames as readonly NewSessionFrame[]).some(isTold);
}

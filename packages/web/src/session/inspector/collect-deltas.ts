import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { sessionLimits } from '../transcript/limits.ts';

/** One streamed event of a model request. */
export interface Delta {
  readonly at: number;
  readonly seq: number | null;
  readonly type: string;
  readonly text: string;
}

/** The events of one model request of a thread, at most `sessionLimits.deltasMax`; the rest of the log is not read. */
export async function collectDeltas(
  log: AsyncIterable<readonly FleetEvent[]>,
  threadId: string,
  request: number,
): Promise<readonly Delta[]> {
  const deltas: Delta[] = [];
  let current = -1;
  for await (const events of log) {
    for (const event of events) {
      if (!('thread_id' in event) || event.thread_id !== threadId) continue;
      if (event.type === 'agent_start') current += 1;
      if (current > request || deltas.length >= sessionLimits.deltasMax) return deltas;
      if (current === request) deltas.push(toDelta(event));
    }
  }
  return deltas;
}

function toDelta(event: FleetEvent): Delta {
  const text = 'delta' in event && typeof event.delta === 'string' ? event.delta : '';
  return { at: event.ts ?? 0, seq: event.seq, type: event.type, text };
}

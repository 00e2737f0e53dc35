import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { encodeFleetEvent, type FleetEvent, parseFleetEvent } from '@fleetloom/protocol/fleet';
import { SseDecoder } from '@fleetloom/protocol/sse';

/** Threads that run at once, including the coordinator. */
export const THREADS = 25;

/** Reads the recording of scripts/record-dashboard-load.mjs. */
export function readRecording(path: string): readonly FleetEvent[] {
  const items = new SseDecoder().push(gunzipSync(readFileSync(path)));
  return items.flatMap((item) => (item.type === 'event' ? [parseFleetEvent(item)] : []));
}

/**
 * The recorded run, repeated as the next runs of that session, without end. Each event has the current
 * time.
 */
export function* repeatLoad(
  recorded: readonly FleetEvent[],
  now: () => number,
): Generator<FleetEvent, never, undefined> {
  const length = recorded.at(-1)?.seq ?? 0;
  for (let round = 0; ; round++) {
    for (const event of recorded) {
      const seq = (event.seq ?? 0) + round * length;
      // Several events of one entry have cursors like 7, 7.1.
      const cursor = event.cursor.replace(/^\d+/, String(seq));
      yield { ...event, ...toIds(event, round), seq, cursor, ts: now() };
    }
  }
}

/** New ids for the tool calls and requests of a repetition. */
function toIds(event: FleetEvent, round: number): object {
  if (round === 0) return {};
  return {
    ...('request_id' in event ? { request_id: `${event.request_id}_${round}` } : {}),
    ...('tool_use_id' in event ? { tool_use_id: `${event.tool_use_id}_${round}` } : {}),
  };
}

export function encodeLoad(event: FleetEvent): string {
  return encodeFleetEvent(event);
}

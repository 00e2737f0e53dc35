import type { FleetEvent } from '@fleetloom/protocol/fleet';

/** One cell of the last minute of a thread: a number of events, or a mark for a wait. */
export type Cell = number | Mark;
/** A mark instead of a count; `silent` if the thread has not started or has ended. */
export type Mark = 'needsYou' | 'retry' | 'silent';

/** How many events each thread had in the last minute, and when it waited for a person. */
export class Activity {
  readonly #threads = new Map<string, Heard>();

  take(event: FleetEvent): void {
    if (!('thread_id' in event) || typeof event.thread_id !== 'string' || event.ts === null) return;
    const heard = this.#threads.get(event.thread_id) ?? { counts: new Map(), spans: [], pendingCalls: 0 };
    this.#threads.set(event.thread_id, heard);
    count(heard, Math.floor(event.ts / 1000));
    heard.pendingCalls = pendingAfter(heard.pendingCalls, event.type);
    enter(heard, event.ts, markOf(event.type, heard.pendingCalls));
  }

  /** The last minute in segments, newest last. The number must divide 60. */
  of(key: string, nowMs: number, cells: number): readonly Cell[] {
    const heard = this.#threads.get(key);
    const seconds = MINUTE / cells;
    // Segments start at fixed times, so that the graph does not flicker every second.
    const end = (Math.floor(nowMs / 1000 / seconds) + 1) * seconds;
    return Array.from({ length: cells }, (_, index): Cell => {
      const from = end - MINUTE + index * seconds;
      return heard === undefined ? 'silent' : toCell(heard, from, from + seconds, end * 1000);
    });
  }
}

interface Heard {
  /** Number of events by second. */
  readonly counts: Map<number, number>;
  /** State changes, oldest first. */
  spans: { readonly fromMs: number; readonly mark: Mark | null }[];
  pendingCalls: number;
}

const MINUTE = 60;

function count({ counts }: Heard, second: number): void {
  counts.set(second, (counts.get(second) ?? 0) + 1);
  // Only visible seconds are kept: a day has 86,400.
  if (counts.size > 2 * MINUTE) for (const old of counts.keys()) if (old <= second - MINUTE) counts.delete(old);
}

function pendingAfter(pendingCalls: number, type: FleetEvent['type']): number {
  if (type === 'approval_required') return pendingCalls + 1;
  if (type === 'approval_resolved') return Math.max(0, pendingCalls - 1);
  return type === 'stream_end' ? 0 : pendingCalls;
}

function markOf(type: FleetEvent['type'], pendingCalls: number): Mark | null {
  if (pendingCalls > 0) return 'needsYou';
  if (type === 'request_retrying') return 'retry';
  return type === 'stream_end' ? 'silent' : null;
}

function enter(heard: Heard, fromMs: number, mark: Mark | null): void {
  if (heard.spans.at(-1)?.mark === mark) return;
  heard.spans.push({ fromMs, mark });
  const seen = heard.spans.findLastIndex((span) => span.fromMs <= fromMs - MINUTE * 1000);
  if (seen > 0) heard.spans = heard.spans.slice(seen);
}

function toCell({ counts, spans }: Heard, from: number, to: number, endMs: number): Cell {
  let events = 0;
  for (let second = from; second < to; second += 1) events += counts.get(second) ?? 0;
  const marks = spans.flatMap(({ fromMs, mark }, index) => {
    const untilMs = spans[index + 1]?.fromMs ?? endMs;
    return fromMs < to * 1000 && untilMs > from * 1000 ? [mark] : [];
  });
  // Waiting for the user has priority. A state that ended within the segment counts.
  for (const mark of ['needsYou', 'retry'] as const) if (marks.includes(mark)) return mark;
  return events === 0 && marks.every((mark) => mark === 'silent') ? 'silent' : events;
}

/** Segments as bar heights. One event is visible; larger counts grow slowly, because agents differ widely. */
export function toSpark(cells: readonly Cell[], unicode: boolean): string {
  const [none = '', ...heights] = unicode ? '▁▂▃▄▅▆▇█' : '_.:-=+*#';
  const marks = { needsYou: '!', retry: unicode ? '↻' : '@', silent: ' ' };
  return cells
    .map((cell) => {
      if (typeof cell === 'string') return marks[cell];
      return cell === 0 ? none : (heights[Math.min(heights.length - 1, Math.floor(Math.log2(cell)))] ?? '');
    })
    .join('');
}

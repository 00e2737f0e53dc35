import type { FleetEvent } from '@fleetloom/protocol/fleet';

/** What a piece of the last minute was for a thread: so many events, or a time in which something else counts. */
export type Cell = number | Mark;
/** `silent`: nobody expects anything of it, because it has not begun or is over. */
export type Mark = 'needsYou' | 'retry' | 'silent';

/** How much was heard of each thread in the last minute, and when it waited for somebody. */
export class Activity {
  readonly #threads = new Map<string, Heard>();

  take(event: FleetEvent): void {
    if (!('thread_id' in event) || typeof event.thread_id !== 'string' || event.ts === null) return;
    const heard = this.#threads.get(event.thread_id) ?? { counts: new Map(), spans: [], asks: 0 };
    this.#threads.set(event.thread_id, heard);
    count(heard, Math.floor(event.ts / 1000));
    heard.asks = asksAfter(heard.asks, event.type);
    enter(heard, event.ts, markOf(event.type, heard.asks));
  }

  /** The last minute in so many pieces, the newest last. The number divides 60. */
  of(key: string, nowMs: number, cells: number): readonly Cell[] {
    const heard = this.#threads.get(key);
    const seconds = MINUTE / cells;
    // Pieces begin at fixed times, so that they move on one by one and do not waver with every second.
    const end = (Math.floor(nowMs / 1000 / seconds) + 1) * seconds;
    return Array.from({ length: cells }, (_, index): Cell => {
      const from = end - MINUTE + index * seconds;
      return heard === undefined ? 'silent' : toCell(heard, from, from + seconds, end * 1000);
    });
  }
}

interface Heard {
  /** By second. */
  readonly counts: Map<number, number>;
  /** What it was from when on, the oldest first. */
  spans: { readonly fromMs: number; readonly mark: Mark | null }[];
  asks: number;
}

const MINUTE = 60;

function count({ counts }: Heard, second: number): void {
  counts.set(second, (counts.get(second) ?? 0) + 1);
  // Only what can still be seen: a day of work has 86,400 of them.
  if (counts.size > 2 * MINUTE) for (const old of counts.keys()) if (old <= second - MINUTE) counts.delete(old);
}

function asksAfter(asks: number, type: FleetEvent['type']): number {
  if (type === 'approval_required') return asks + 1;
  if (type === 'approval_resolved') return Math.max(0, asks - 1);
  return type === 'stream_end' ? 0 : asks;
}

function markOf(type: FleetEvent['type'], asks: number): Mark | null {
  if (asks > 0) return 'needsYou';
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
  // Somebody's own delay matters most. What ended within the piece was heard of in it.
  for (const mark of ['needsYou', 'retry'] as const) if (marks.includes(mark)) return mark;
  return events === 0 && marks.every((mark) => mark === 'silent') ? 'silent' : events;
}

/** The pieces as heights. Any sign of life is seen; the rest grows slowly, because some agents say much more. */
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

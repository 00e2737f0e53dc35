import { StreamTranslator } from '@fleetloom/protocol/stream-json';
import { foldOverview } from '../src/stream-json/overview/fold-overview.ts';
import type { TimeSource } from '../src/stream-json/overview/moment.ts';
import { createOverview, type Overview } from '../src/stream-json/overview/overview.ts';

/** The overview of a whole stream that was read from a file. */
export function overviewOf(stream: string, timeSource: TimeSource = 'line'): Overview {
  const overview = createOverview(timeSource);
  const translator = new StreamTranslator();
  for (const event of [...translator.push(Buffer.from(stream)), ...translator.end()]) foldOverview(overview, event);
  overview.ended = true;
  return overview;
}

/** The overview of a live stream after these lines, each with its arrival time. */
export function liveOverviewOf(lines: readonly (readonly [atMs: number, line: string])[]): Overview {
  const overview = createOverview('arrival');
  const translator = new StreamTranslator();
  for (const [atMs, line] of lines) {
    for (const event of translator.push(Buffer.from(line))) foldOverview(overview, event, atMs);
  }
  return overview;
}

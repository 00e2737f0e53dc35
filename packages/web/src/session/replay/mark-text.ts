import { cutText } from '@fleetloom/protocol/fleet';
import { formatClock } from '../../model/format.ts';
import type { SessionModel } from '../../model/session-model.ts';
import { cleanLine } from '@fleetloom/protocol/text';

/** The marks near a time, one per line, the nearest first; started threads only as a count. */
export function markText(session: Pick<SessionModel, 'tracks'>, time: number, nearMs: number): string {
  const near = [...session.tracks.values()]
    .flatMap(({ marks }) => marks)
    .filter(({ at }) => Math.abs(at - time) <= nearMs)
    .toSorted((left, right) => Math.abs(left.at - time) - Math.abs(right.at - time));
  const starts = near.filter(({ kind }) => kind === 'spawn');
  const others = near.filter(({ kind }) => kind !== 'spawn').slice(0, SHOWN);
  const lines = others.map(({ at, kind, label }) => `${formatClock(at)} ${kind}: ${cutText(cleanLine(label), 120)}`);
  if (starts.length > 0) lines.push(`${formatClock(starts[0]!.at)} spawn: ${starts.length} started`);
  return lines.join('\n');
}

const SHOWN = 5;

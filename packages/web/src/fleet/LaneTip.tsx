import { formatClock, formatCount, formatSpan } from '../model/format.ts';
import { states } from '../model/states.ts';
import type { ShownRow } from '../model/summary.ts';
import { tokensOf } from '../model/thread-rows.ts';
import { cleanLine } from '../text/clean-text.ts';
import { fleet } from '../app/stores.ts';

/** What a piece of a lane was: when, how long, what. */
export function LaneTip({ row, time, x, y }: { row: ShownRow | undefined; time: number; x: number; y: number }) {
  const track = row?.session.tracks.get(row.key);
  if (row === undefined || track === undefined || time > fleet.now()) return null;
  const piece = track.segments.findLast(({ from }) => from <= time);
  const mark = track.marks.find(({ at, kind }) => kind !== 'spawn' && Math.abs(at - time) < 800);
  if (piece === undefined || (piece.to !== null && piece.to < time && piece.to !== piece.from)) return null;
  const { glyph, word } = states[piece.state];
  const to = piece.to ?? fleet.now();
  return (
    <div className="tip" style={{ transform: `translate(${x + 12}px, ${y + 14}px)` }}>
      <b>{cleanLine(row.agent)}</b>
      <span data-ink={piece.state}>
        {glyph} {word} {cleanLine(piece.label)}
      </span>
      <span className="quiet">
        {formatClock(piece.from)} · {formatSpan(to - piece.from)} · {formatCount(tokensOf(row.usage))} tokens in all
      </span>
      {mark !== undefined && <span>{cleanLine(mark.label).slice(0, 120)}</span>}
    </div>
  );
}

import { cutText, states } from '@fleetloom/protocol/fleet';
import { Glyph } from '../ui/Glyph.tsx';
import { fleet } from '../stores/stores.ts';
import { formatClock, formatCount, formatSpan } from '../model/format.ts';
import type { ShownRow } from '../model/summary.ts';
import { cleanLine } from '@fleetloom/protocol/text';
import { pieceAt, tokensOfPiece } from './lane-piece.ts';

interface LaneTipProps {
  readonly row: ShownRow | undefined;
  readonly time: number;
  /** How far from the pointer a mark may be to be included. */
  readonly nearMs: number;
  readonly x: number;
  readonly y: number;
}

/** Tooltip of a lane segment: state, start, duration, tokens. */
export function LaneTip({ row, time, nearMs, x, y }: LaneTipProps) {
  const track = row?.session.tracks.get(row.key);
  if (row === undefined || track === undefined || time > fleet.now()) return null;
  const piece = pieceAt(track, time);
  const mark = track.marks.find(({ at, kind }) => kind !== 'spawn' && Math.abs(at - time) <= nearMs);
  if (piece === undefined) return null;
  const { glyph, word } = states[piece.state];
  const to = Math.min(piece.to ?? fleet.now(), fleet.now());
  const { tokens, isRequest } = tokensOfPiece(track, piece, fleet.now());
  return (
    <div className="tip" style={{ transform: `translate(${x + 12}px, ${y + 14}px)` }}>
      <b>{cleanLine(row.agent)}</b>
      <span data-ink={piece.state}>
        <Glyph glyph={glyph} /> {word} {cleanLine(piece.label)}
      </span>
      <span className="quiet">
        {formatClock(piece.from)} · {formatSpan(to - piece.from)} · {formatCount(tokens)} tokens
        {isRequest ? ' in this request' : ' so far'}
      </span>
      {mark !== undefined && <span>{cutText(cleanLine(mark.label), 120)}</span>}
    </div>
  );
}

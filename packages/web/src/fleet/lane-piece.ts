import type { Segment, ThreadTrack } from '../model/thread-track.ts';

/** The segment of a lane at a time. An end segment, which has no duration, lasts until the next one. */
export function pieceAt({ segments }: Pick<ThreadTrack, 'segments'>, time: number): Segment | undefined {
  const piece = segments.findLast(({ from }) => from <= time);
  const isOver = piece !== undefined && piece.to !== null && piece.to < time && piece.to !== piece.from;
  return isOver ? undefined : piece;
}

/** Tokens of a segment: of its model request once the request has ended, otherwise of the thread up to the end of the segment. */
export function tokensOfPiece(
  { spent }: Pick<ThreadTrack, 'spent'>,
  piece: Segment,
  now: number,
): { readonly tokens: number; readonly isRequest: boolean } {
  const request =
    piece.state === 'thinking' || piece.state === 'writing' ? spent.find(({ at }) => at >= piece.from) : undefined;
  if (request !== undefined && request.at <= now) return { tokens: request.tokens, isRequest: true };
  const until = Math.min(piece.to ?? now, now);
  return { tokens: spent.reduce((sum, { at, tokens }) => sum + (at <= until ? tokens : 0), 0), isRequest: false };
}

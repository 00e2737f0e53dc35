import type { Glyphs } from '../terminal/glyphs.ts';
import type { Detail } from './detail.ts';

/** How the tree is to be drawn. */
export interface Drawing {
  width: number;
  glyphs: Glyphs;
  detail: Detail;
  /** The clock of what is running; undefined where nothing runs or the stream's time is unknown. */
  nowMs?: number;
  /** The clock of what moves without meaning anything. */
  animationMs?: number;
  /** Drawing stops soon after so many rows: more would not fit anyway. */
  rowsMax?: number;
  /** Only these agents are drawn, the others counted. */
  only?: ReadonlySet<string>;
  /** Said beside the name in the first row. */
  title?: string;
}

/** Right column of every row with a time. */
export const TIME_WIDTH = 8;

/** The picture of an animation that belongs to this instant, so that drawing twice at one time draws the same. */
export function pickFrame(frames: readonly string[], { animationMs = 0 }: Drawing, frameMs: number): string {
  return frames[Math.floor(animationMs / frameMs) % frames.length] ?? '';
}

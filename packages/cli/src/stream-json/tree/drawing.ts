import type { Glyphs } from '../../terminal/glyphs.ts';
import type { Detail } from './detail.ts';

/** How the tree is drawn. */
export interface Drawing {
  width: number;
  glyphs: Glyphs;
  detail: Detail;
  /** The time for running durations; undefined if nothing runs or the time is unknown. */
  nowMs?: number;
  /** The time for animations. */
  animationMs?: number;
  /** Drawing may stop after this many rows. */
  rowsMax?: number;
  /** Only these agents are drawn, the others counted. */
  only?: ReadonlySet<string>;
  /** The text beside the name in the first row. */
  title?: string;
}

/** Width of the right column of rows with a duration. */
export const TIME_WIDTH = 12;

/** The frame of an animation at this time: drawing twice at the same time draws the same. */
export function pickFrame(frames: readonly string[], { animationMs = 0 }: Drawing, frameMs: number): string {
  return frames[Math.floor(animationMs / frameMs) % frames.length] ?? '';
}

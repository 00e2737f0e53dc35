import type { ThreadDrawing } from '../../fleet/draw-threads.ts';
import type { Look } from '../../terminal/look.ts';

/** The options with which every part of the screen is drawn. */
export interface WatchDrawing extends ThreadDrawing {
  readonly rows: number;
  readonly look: Look;
  /** The current time. `nowMs` is the time of the shown state, which a replay sets to the past. */
  readonly clockMs: number;
  /** A replay is shown: keys that act on the session are off. */
  readonly isPast: boolean;
}

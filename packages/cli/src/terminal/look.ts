import type { Io } from '../io.ts';
import { chooseGlyphs, type Glyphs } from './glyphs.ts';
import { type ColourDepth, createPaint, type Paint } from './palette.ts';

/** How this terminal wants to be written to. */
export interface Look {
  /** The cursor can be moved: a live picture is possible. */
  live: boolean;
  unicode: boolean;
  glyphs: Glyphs;
  paint: Paint;
}

/** Reads NO_COLOR, FORCE_COLOR, TERM, COLORTERM and the locale (SPEC C6). */
export function detectLook(io: Pick<Io, 'stdout' | 'env' | 'platform'>): Look {
  const terminal = io.stdout.isTTY === true;
  const unicode = io.platform === 'win32' || isUtf8Locale(io.env);
  return {
    live: terminal && io.env['TERM'] !== 'dumb',
    unicode,
    glyphs: chooseGlyphs(unicode),
    paint: createPaint(colourDepth(io.env, terminal)),
  };
}

/**
 * Columns to draw in: the terminal's, else COLUMNS, else a width that reads well. The last column stays free, because
 * terminals differ in what they do there; and no line is so wide that the eye gets lost.
 */
export function drawingWidth(io: Pick<Io, 'stdout' | 'env'>): number {
  // A terminal that does not know its size says 0.
  const columns = io.stdout.columns || Number.parseInt(io.env['COLUMNS'] ?? '', 10);
  if (columns > 0) return Math.min(Math.max(1, columns - 1), WIDTH_MAX);
  return io.stdout.isTTY ? WIDTH_UNKNOWN : WIDTH_DEFAULT;
}

const WIDTH_MAX = 110;
const WIDTH_DEFAULT = 100;
const WIDTH_UNKNOWN = 79;

function isUtf8Locale(env: Io['env']): boolean {
  return /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '');
}

function colourDepth(env: Io['env'], terminal: boolean): ColourDepth {
  const force = env['FORCE_COLOR'];
  if (force !== undefined) return forcedDepth(force, env);
  if (env['NO_COLOR'] || !terminal || env['TERM'] === 'dumb') return 'none';
  return ownDepth(env);
}

/** As Node itself and the widely used libraries read it: it wins over NO_COLOR and over the lack of a terminal. */
function forcedDepth(force: string, env: Io['env']): ColourDepth {
  if (force === '0' || force === 'false') return 'none';
  if (force === '1') return '16';
  if (force === '2') return '256';
  if (force === '3') return 'true';
  return ownDepth(env);
}

function ownDepth(env: Io['env']): ColourDepth {
  if (/^(truecolor|24bit)$/i.test(env['COLORTERM'] ?? '')) return 'true';
  return /256color|kitty|ghostty/i.test(env['TERM'] ?? '') ? '256' : '16';
}

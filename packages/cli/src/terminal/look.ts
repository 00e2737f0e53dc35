import type { Io } from '../base/io.ts';
import { chooseGlyphs, type Glyphs } from './glyphs.ts';
import { type ColourDepth, createPaint, type Paint } from './palette.ts';

/** The capabilities of the terminal. */
export interface Look {
  /** Whether the cursor can be moved, so that live drawing is possible. */
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
 * Columns to draw in: those of the terminal, else COLUMNS, else a default. The last column stays free, because terminals
 * wrap differently there; very wide terminals are not used in full, for readability.
 */
export function drawingWidth(io: Pick<Io, 'stdout' | 'env'>): number {
  // A terminal of unknown size reports 0.
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

/** As in Node: FORCE_COLOR wins over NO_COLOR and over the absence of a terminal. */
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

import type { WatchAction } from '../src/watch/state/action.ts';
import { chooseGlyphs } from '../src/terminal/glyphs.ts';
import { createPaint } from '../src/terminal/palette.ts';
import { parseKeys } from '../src/terminal/parse-keys.ts';
import { drawWatch } from '../src/watch/draw/draw-watch.ts';
import { handleKey } from '../src/watch/input/handle-key.ts';
import { WatchModel } from '../src/watch/state/watch-model.ts';
import type { FleetEvents } from './fleet-events.ts';

export function toLook(unicode = true) {
  return { live: true, unicode, glyphs: chooseGlyphs(unicode), paint: createPaint('none') };
}

/** A connected view that has received all of these events. */
export function modelOf(events: FleetEvents): WatchModel {
  const model = new WatchModel('sesn_0123456789abcdef');
  for (const event of events.list) model.take(event);
  model.link = 'live';
  return model;
}

export function press(model: WatchModel, keys: string, nowMs = 0): (WatchAction | undefined)[] {
  return parseKeys(keys).map((key) => handleKey(model, key, nowMs));
}

export function draw(model: WatchModel, nowMs: number, columns = 80, rows = 24): string[] {
  return drawWatch(model, toLook(), columns, rows, nowMs);
}

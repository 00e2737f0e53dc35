import type { CanvasColours } from './canvas-colours.ts';
import type { StateId } from '@fleetloom/protocol/fleet';

/** Fills a lane segment: every state has a colour, states that need attention also a pattern. */
export function fillState(
  context: CanvasRenderingContext2D,
  colours: CanvasColours,
  state: StateId,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  const colour = colours.state[state];
  switch (state) {
    case 'needs':
    case 'stalled': {
      context.fillStyle = hatch(context, colour, state === 'needs' ? 5 : 8);
      context.fillRect(x, y, width, height);
      context.strokeStyle = colour;
      context.lineWidth = 1;
      if (width > 2) context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
      return;
    }
    case 'waits':
      context.strokeStyle = colour;
      context.lineWidth = 1.25;
      if (width > 2) context.strokeRect(x + 0.5, y + 2.5, width - 1, height - 5);
      else context.fillRect(x, y, width, height);
      return;
    case 'queued':
      context.fillStyle = colour;
      for (let dot = x; dot < x + width; dot += 5) context.fillRect(dot, y + height / 2 - 1, 2, 2);
      return;
    case 'thinking':
      context.fillStyle = colour;
      context.fillRect(x, y + 2, width, height - 4);
      return;
    default:
      context.fillStyle = colour;
      context.fillRect(x, y, width, height);
  }
}

const hatches = new Map<string, CanvasPattern | string>();

/** A pattern of diagonal lines, created once per colour. */
function hatch(context: CanvasRenderingContext2D, colour: string, step: number): CanvasPattern | string {
  const key = `${colour} ${step}`;
  const known = hatches.get(key);
  if (known !== undefined) return known;
  const tile = document.createElement('canvas');
  tile.width = step;
  tile.height = step;
  const paint = tile.getContext('2d');
  if (paint === null) return colour;
  paint.strokeStyle = colour;
  paint.lineWidth = step / 2.6;
  paint.lineCap = 'square';
  paint.beginPath();
  paint.moveTo(-1, step + 1);
  paint.lineTo(step + 1, -1);
  paint.moveTo(-step / 2, step / 2);
  paint.lineTo(step / 2, -step / 2);
  paint.moveTo(step / 2, step * 1.5);
  paint.lineTo(step * 1.5, step / 2);
  paint.stroke();
  const pattern = context.createPattern(tile, 'repeat') ?? colour;
  hatches.set(key, pattern);
  return pattern;
}

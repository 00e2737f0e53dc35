import type { Approval } from '@fleetloom/protocol/fleet';
import { limits } from '../limits.ts';
import { cleanLine, cleanText } from '../terminal/clean-text.ts';
import { type Row, span } from '../terminal/row.ts';
import { wrapText } from '../terminal/text-width.ts';
import type { WatchDrawing } from './draw-watch.ts';

/** What an agent asks for, with as much of the input as there is room for; that there is more is always said. */
export function drawAsk({ agent, tool, input }: Approval, { glyphs, width }: WatchDrawing, room: number): Row[] {
  const asks = [span(`${glyphs.needsYou} ${cleanLine(agent)} asks for `, 'attention'), span(cleanLine(tool), 'bold')];
  const lines = toInputLines(input, width - 4);
  const space = Math.max(1, room - 1);
  const shown = lines.length <= space ? lines : lines.slice(0, space - 1);
  const rest = lines.length - shown.length;
  return [
    { left: asks, right: [span('a approve  d deny', 'attention')] },
    ...shown.map((line): Row => ({ left: [span(`    ${line}`)], right: [] })),
    ...(rest === 0
      ? []
      : [{ left: [span(`    ${glyphs.ellipsis} ${rest} more lines, Enter shows them`, 'attention')], right: [] }]),
  ];
}

/** A command as it is typed, anything else as JSON. */
function toInputLines(input: unknown, width: number): string[] {
  const values = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const isText = values.length > 0 && values.every(([, value]) => typeof value === 'string');
  const text = isText
    ? values.map(([name, value]) => (values.length === 1 ? String(value) : `${name}: ${String(value)}`)).join('\n')
    : (JSON.stringify(input, null, 2) ?? '');
  const lines = wrapText(cleanText(text), width, limits.inputRowsMax + 1);
  if (lines.length <= limits.inputRowsMax) return lines;
  return [
    ...lines.slice(0, limits.inputRowsMax),
    `(${text.length} characters in all; "fleetloom approve" prints their beginning, the export all)`,
  ];
}

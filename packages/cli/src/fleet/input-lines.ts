import { cleanInput } from '../terminal/clean-text.ts';
import { wrapText } from '../terminal/text-width.ts';

/** A command as it is typed, several texts with their names, anything else as JSON. */
export function toInputLines(input: unknown, width: number, linesMax: number): string[] {
  const values = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const isText = values.length > 0 && values.every(([, value]) => typeof value === 'string');
  const text = isText
    ? values.map(([name, value]) => (values.length === 1 ? String(value) : `${name}: ${String(value)}`)).join('\n')
    : (JSON.stringify(input, null, 2) ?? '');
  const lines = wrapText(cleanInput(text), width, linesMax + 1);
  if (lines.length <= linesMax) return lines;
  return [...lines.slice(0, linesMax), `(only its beginning is shown: ${text.length} characters in all)`];
}

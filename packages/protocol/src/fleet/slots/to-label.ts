import { limits } from './limits.ts';

/** The label of a tool call: the beginning of the most specific text field of its input, on one line. */
export function toLabel(input: unknown): string {
  if (typeof input === 'string') return oneLine(input);
  if (typeof input !== 'object' || input === null) return '';
  const texts = Object.entries(input).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const preferred = labelFields.find((name) => texts.some(([field]) => field === name));
  const [, text = ''] = texts.find(([field]) => preferred === undefined || field === preferred) ?? [];
  return oneLine(text);
}

/** Fields of well-known tools, the most specific first. */
const labelFields = [
  'command',
  'file_path',
  'notebook_path',
  // Before the path: the pattern of a search is more specific than its folder.
  'pattern',
  'path',
  'url',
  'query',
  'agent',
  'description',
  'message',
  'prompt',
];

function oneLine(text: string): string {
  // The text is cut first: inputs may have megabytes.
  const line = text
    .slice(0, 4 * limits.labelCharsMax)
    .replace(/\s+/g, ' ')
    .trim();
  const characters = Array.from(line);
  if (characters.length <= limits.labelCharsMax && text.length <= 4 * limits.labelCharsMax) return line;
  return `${characters.slice(0, limits.labelCharsMax - 1).join('')}…`;
}

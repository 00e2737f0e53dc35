import { cutText } from '@fleetloom/protocol/fleet';
/** What an input is about, in one line: the field that says most. */
export function inputLabel(input: unknown): string {
  if (typeof input === 'string') return cutText(input, CHARS);
  if (typeof input !== 'object' || input === null) return '';
  const fields = Object.entries(input).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const found =
    TELLING.map((name) => fields.find(([field]) => field === name)).find((entry) => entry !== undefined) ?? fields[0];
  return found === undefined ? '' : cutText(found[1], CHARS);
}

const CHARS = 200;
const TELLING = ['command', 'file_path', 'pattern', 'path', 'url', 'query', 'agent', 'message'];

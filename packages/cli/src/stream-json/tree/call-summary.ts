import { cutText } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { limits } from '../../base/limits.ts';

/** The most informative field of a tool call: the command, the file, the pattern. One clean line, possibly empty. */
export function summarizeCall(name: string, input: unknown, cwd?: string): string {
  if (typeof input === 'string') return toLine(input, cwd);
  if (typeof input !== 'object' || input === null) return input == null ? '' : toLine(JSON.stringify(input), cwd);
  const fields = input as Record<string, unknown>;
  const special = SPECIAL[name]?.(fields);
  if (special) return toLine(special, cwd);
  for (const field of TELLING) {
    const value = fields[field];
    if (typeof value === 'string' && value.trim() !== '') return toLine(value, cwd);
  }
  const [first] = Object.values(fields).filter((value) => typeof value === 'string' && value.trim() !== '');
  if (typeof first === 'string') return toLine(first, cwd);
  const json = JSON.stringify(input);
  return json === '{}' ? '' : toLine(json, cwd);
}

/** `mcp__github__create_issue` is shown as `github: create_issue`. */
export function displayToolName(name: string): string {
  const parts = /^mcp__(.+?)__(.+)$/.exec(cutText(name, 200));
  return parts ? `${parts[1]}: ${parts[2]}` : cutText(name, 200);
}

/** Field names, the most informative first; a description is used only if no other field is present. */
const TELLING = [
  'command',
  'file_path',
  'notebook_path',
  'path',
  'pattern',
  'url',
  'query',
  'skill',
  'description',
  'question',
  'title',
  'name',
  'message',
  'prompt',
];

const SPECIAL: Record<string, (fields: Record<string, unknown>) => string | undefined> = {
  Agent: (fields) => text(fields['description']) ?? text(fields['prompt']),
  Task: (fields) => text(fields['description']) ?? text(fields['prompt']),
  Grep: (fields) => join(text(fields['pattern']), text(fields['path']) ?? text(fields['glob'])),
  Glob: (fields) => join(text(fields['pattern']), text(fields['path'])),
  SendMessage: (fields) => text(fields['message']) ?? text(fields['content']) ?? text(fields['summary']),
  TodoWrite: (fields) => (Array.isArray(fields['todos']) ? `${fields['todos'].length} items` : undefined),
  AskUserQuestion: (fields) => {
    const [first] = Array.isArray(fields['questions']) ? fields['questions'] : [];
    return text((first as { question?: unknown } | undefined)?.question);
  },
};

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function join(what: string | undefined, where: string | undefined): string | undefined {
  return what !== undefined && where !== undefined ? `${what} in ${where}` : what;
}

function toLine(value: string, cwd: string | undefined): string {
  const line = cleanLine(cutText(value, limits.lineCharsMax));
  return cwd ? line.replaceAll(`${cwd.replace(/[/\\]$/, '')}/`, '') : line;
}

import { extname } from 'node:path';
import { isObject } from '../base/is-object.ts';
import { UsageError } from '../base/usage-error.ts';

/** The fields of an agent definition, independent of its file format. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reads the fields of a Markdown, YAML or JSON definition. */
export async function readFields(file: string, text: string): Promise<Fields> {
  const ending = extname(file);
  if (ending === '.md') return await readMarkdown(file, text);
  const value = ending === '.json' ? parseJson(file, text) : await parseYaml(file, text);
  if (isObject(value)) return value;
  throw new UsageError(`${file} is not an agent definition.`, 'Add fields such as name, model and system.');
}

/** Front matter between two lines of dashes, then the system prompt. */
async function readMarkdown(file: string, text: string): Promise<Fields> {
  const found = /^\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)(.*)$/s.exec(text);
  if (found === null) {
    throw new UsageError(
      `${file} has no front matter.`,
      'Start it with a line "---", then name: and description:, then a line "---".',
    );
  }
  const [, front = '', body = ''] = found;
  const fields = await parseYaml(file, front).catch(() => readLoosely(front));
  const system = body.trim();
  return { ...(isObject(fields) ? fields : readLoosely(front)), ...(system === '' ? {} : { system }) };
}

/**
 * Descriptions often contain colons, which YAML rejects and Claude Code accepts. So front matter that is not valid YAML is
 * read line by line: a name, a colon, and the rest of the line as the value.
 */
function readLoosely(front: string): Fields {
  const fields: Record<string, string | boolean> = {};
  let last: string | undefined;
  for (const line of front.split(/\r?\n/)) {
    const [, name, value = ''] = /^([A-Za-z][\w-]*):[ \t]*(.*)$/.exec(line) ?? [];
    if (name !== undefined) {
      fields[name] = value.trim() === 'true' || value.trim();
      last = name;
    } else if (last !== undefined) fields[last] = `${fields[last]}\n${line.trim()}`.trim();
  }
  return fields;
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(file, error);
  }
}

async function parseYaml(file: string, text: string): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    // Without this, the parser prints warnings.
    return parse(text, { logLevel: 'error' });
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): UsageError {
  const [first = ''] = String(error instanceof Error ? error.message : error).split('\n');
  return new UsageError(`${file} cannot be read: ${first}`, 'Fix it or remove it from the directory.');
}

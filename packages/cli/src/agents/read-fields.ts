import { extname } from 'node:path';
import { UsageError } from '../usage-error.ts';

/** The fields of a definition, whatever it is written in. */
export type Fields = Readonly<Record<string, unknown>>;

export async function readFields(file: string, text: string): Promise<Fields> {
  const ending = extname(file);
  if (ending === '.md') return await readMarkdown(file, text);
  const value = ending === '.json' ? parseJson(file, text) : await parseYaml(file, text);
  if (isFields(value)) return value;
  throw new UsageError(`${file} is no definition of an agent.`, 'Give it fields such as name, model and system.');
}

/** Front matter between two lines of dashes, then the system prompt. */
async function readMarkdown(file: string, text: string): Promise<Fields> {
  const found = /^\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)(.*)$/s.exec(text);
  if (found === null) {
    throw new UsageError(`${file} has no front matter.`, 'Begin it with a line ---, name: and description:, and ---.');
  }
  const [, front = '', body = ''] = found;
  const fields = await parseYaml(file, front).catch(() => readLoosely(front));
  const system = body.trim();
  return { ...(isFields(fields) ? fields : readLoosely(front)), ...(system === '' ? {} : { system }) };
}

/**
 * Descriptions are often whole sentences with colons in them, which YAML does not take, and the programs that these
 * files are written for do. So what YAML refuses is read line by line: a name, a colon, and the rest as it stands.
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
    // Otherwise it prints what it finds strange.
    return parse(text, { logLevel: 'error' });
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): UsageError {
  const [first = ''] = String(error instanceof Error ? error.message : error).split('\n');
  return new UsageError(`${file} cannot be read: ${first}`, 'Correct it, or take it out of the directory.');
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

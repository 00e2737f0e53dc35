import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the program's own transcripts of a session have of each agent: its texts, thoughts and calls in their order. */
export async function readTranscripts(directory: string, session: string): Promise<string[][]> {
  const home = join(directory, 'program-homes', session);
  const names = await readdir(home, { recursive: true });
  const files = names.filter((name) => name.includes('projects') && name.endsWith('.jsonl'));
  const agents = await Promise.all(files.map(async (name) => toSaid(await readFile(join(home, name), 'utf8'))));
  return agents.filter((said) => said.length > 0);
}

interface Entry {
  readonly type: string;
  /** The program's own words about a model request that failed. */
  readonly isApiErrorMessage?: boolean;
  readonly message?: { readonly content?: unknown };
}

function toSaid(file: string): string[] {
  const entries = file.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Entry]));
  const said = entries.filter(({ type, isApiErrorMessage }) => type === 'assistant' && isApiErrorMessage !== true);
  return said.flatMap(({ message }) => blocksOf(message?.content));
}

function blocksOf(content: unknown): string[] {
  const blocks = Array.isArray(content) ? (content as Readonly<Record<string, unknown>>[]) : [];
  return blocks.flatMap((block) => {
    if (block['type'] === 'tool_use') return [`call ${String(block['name'])}`];
    const text = block['type'] === 'thinking' ? block['thinking'] : block['text'];
    return typeof text === 'string' && text !== '' ? [`${String(block['type'])} ${text}`] : [];
  });
}

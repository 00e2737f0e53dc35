import { basename, extname } from 'node:path';
import type { AgentCreateParams, MultiagentParams } from '@fleetloom/protocol/managed-agents';
import { UsageError } from '../usage-error.ts';
import type { AgentFile } from './agent-file.ts';
import { type Fields, readFields } from './read-fields.ts';
import { toModelName } from './to-model-name.ts';
import { toToolParams } from './to-tool-params.ts';

/**
 * An agent from the text of its file. Markdown is read as Claude Code reads `.claude/agents`: front matter, and the body
 * is the system prompt. YAML and JSON have the fields of `POST /v1/agents`, with names instead of ids (SPEC Y9).
 */
export async function parseAgentFile(file: string, text: string): Promise<AgentFile> {
  const isMarkdown = extname(file) === '.md';
  const fields = await readFields(file, text);
  const notes: string[] = [];
  const tools = toToolParams(file, fields, { isAllByDefault: isMarkdown }, notes);
  for (const name of Object.keys(fields)) if (!KNOWN.has(name)) notes.push(`${name} is not used here`);
  return {
    file,
    name: textOf(file, fields, 'name') ?? basename(file, extname(file)),
    description: textOf(file, fields, 'description') ?? null,
    system: textOf(file, fields, 'system') ?? textOf(file, fields, 'prompt') ?? null,
    model: toModel(file, fields['model']),
    tools,
    members: toMembers(file, fields),
    others: toOthers(fields),
    notes,
  };
}

/** `color` and `type` only say how it looks elsewhere. */
const KNOWN = new Set(
  (
    'name description system prompt model tools disallowedTools color type ' +
    'coordinator agents multiagent mcp_servers skills metadata'
  ).split(' '),
);

function textOf(file: string, fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw wrong(file, name, 'a text');
}

function toModel(file: string, value: unknown): AgentFile['model'] {
  if (value === undefined || value === null || value === '' || value === 'inherit') return null;
  if (typeof value === 'string') return toModelName(value);
  // Its fields are checked by the server, which knows them all.
  if (typeof value === 'object' && 'id' in value) return value as NonNullable<AgentCreateParams['model']>;
  throw wrong(file, 'model', 'the name of a model');
}

function toMembers(file: string, fields: Fields): AgentFile['members'] {
  const named = fields['agents'] ?? rosterOf(file, fields['multiagent']);
  if (named === undefined || named === null) return fields['coordinator'] === true ? 'everybody' : null;
  const list: unknown[] = typeof named === 'string' ? named.split(',').map((each) => each.trim()) : toList(file, named);
  const names = list.map((each) => nameOf(file, each));
  return names.length === 0 ? 'everybody' : names;
}

/** Of both forms of a roster the one list that is in it. */
function rosterOf(file: string, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object') throw wrong(file, 'multiagent', 'a roster');
  // Only looked at, every part of it with care.
  const multiagent = value as Partial<MultiagentParams> & { readonly agents?: unknown; readonly subagents?: unknown };
  const { subagents } = multiagent;
  if (typeof subagents === 'object' && subagents !== null && 'predefined_agents' in subagents) {
    return subagents.predefined_agents ?? [];
  }
  return multiagent.agents ?? [];
}

function toList(file: string, value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw wrong(file, 'agents', 'a list of names');
}

function nameOf(file: string, entry: unknown): string {
  if (typeof entry === 'string' && entry !== '') return entry;
  const name: unknown = typeof entry === 'object' && entry !== null && 'name' in entry ? entry.name : undefined;
  if (typeof name === 'string') return name;
  throw wrong(file, 'agents', 'a list of names');
}

function toOthers({ mcp_servers, skills, metadata }: Fields): AgentFile['others'] {
  // Passed on as they are: the server checks them, and says what is wrong.
  return {
    ...(Array.isArray(mcp_servers) ? { mcp_servers } : {}),
    ...(Array.isArray(skills) && skills.every((each) => typeof each === 'object') ? { skills } : {}),
    ...(typeof metadata === 'object' && metadata !== null ? { metadata: metadata as Record<string, string> } : {}),
  };
}

function wrong(file: string, field: string, wanted: string): UsageError {
  return new UsageError(
    `${file}: "${field}" is not ${wanted}.`,
    'fleetloom run --help shows what a definition may have.',
  );
}

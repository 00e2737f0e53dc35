import { basename, extname } from 'node:path';
import type { AgentCreateParams, MultiagentParams } from '@fleetloom/protocol/managed-agents';
import { UsageError } from '../base/usage-error.ts';
import type { AgentFile } from './agent-file.ts';
import { type Fields, readFields } from './read-fields.ts';
import { toModelName } from './to-model-name.ts';
import { toToolParams } from './to-tool-params.ts';

/**
 * Parses an agent definition. Markdown is read as Claude Code reads `.claude/agents`: front matter, and the body is the
 * system prompt. YAML and JSON have the fields of `POST /v1/agents`, with names instead of ids (SPEC Y9).
 */
export async function parseAgentFile(file: string, text: string): Promise<AgentFile> {
  const isMarkdown = extname(file) === '.md';
  const fields = await readFields(file, text);
  const notes: string[] = [];
  const tools = toToolParams(file, fields, { isAllByDefault: isMarkdown }, notes);
  for (const name of Object.keys(fields)) if (!KNOWN.has(name)) notes.push(`the field "${name}" is ignored`);
  return {
    file,
    name: textOf(file, fields, 'name') ?? basename(file, extname(file)),
    description: textOf(file, fields, 'description') ?? null,
    system: textOf(file, fields, 'system') ?? textOf(file, fields, 'prompt') ?? null,
    model: toModel(file, fields['model']),
    tools,
    roster: toRoster(file, fields),
    others: toOthers(fields),
    notes,
  };
}

/** `color` and `type` are only about display in Claude Code, so they are not reported as ignored. */
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
  throw invalid(file, name, 'a text');
}

function toModel(file: string, value: unknown): AgentFile['model'] {
  if (value === undefined || value === null || value === '' || value === 'inherit') return null;
  if (typeof value === 'string') return toModelName(value);
  // The server checks the fields.
  if (typeof value === 'object' && 'id' in value) return value as NonNullable<AgentCreateParams['model']>;
  throw invalid(file, 'model', 'the name of a model');
}

function toRoster(file: string, fields: Fields): AgentFile['roster'] {
  const named = fields['agents'] ?? rosterOf(file, fields['multiagent']);
  if (named === undefined || named === null) return fields['coordinator'] === true ? 'all' : null;
  const list: unknown[] = typeof named === 'string' ? named.split(',').map((each) => each.trim()) : toList(file, named);
  const names = list.map((each) => nameOf(file, each));
  return names.length === 0 ? 'all' : names;
}

/** The list of agents in either form of `multiagent`. */
function rosterOf(file: string, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object') throw invalid(file, 'multiagent', 'a roster');
  // The cast is safe: every field is checked below.
  const multiagent = value as Partial<MultiagentParams> & { readonly agents?: unknown; readonly subagents?: unknown };
  const { subagents } = multiagent;
  if (typeof subagents === 'object' && subagents !== null && 'predefined_agents' in subagents) {
    return subagents.predefined_agents ?? [];
  }
  return multiagent.agents ?? [];
}

function toList(file: string, value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw invalid(file, 'agents', 'a list of names');
}

function nameOf(file: string, entry: unknown): string {
  if (typeof entry === 'string' && entry !== '') return entry;
  const name: unknown = typeof entry === 'object' && entry !== null && 'name' in entry ? entry.name : undefined;
  if (typeof name === 'string') return name;
  throw invalid(file, 'agents', 'a list of names');
}

function toOthers({ mcp_servers, skills, metadata }: Fields): AgentFile['others'] {
  // The server checks these fields.
  return {
    ...(Array.isArray(mcp_servers) ? { mcp_servers } : {}),
    ...(Array.isArray(skills) && skills.every((each) => typeof each === 'object') ? { skills } : {}),
    ...(typeof metadata === 'object' && metadata !== null ? { metadata: metadata as Record<string, string> } : {}),
  };
}

function invalid(file: string, field: string, wanted: string): UsageError {
  return new UsageError(`${file}: "${field}" is not ${wanted}.`, '"fleetloom run --help" describes agent definitions.');
}

import { type BuiltInToolName, builtInToolNames, type ToolParams } from '@fleetloom/protocol/managed-agents';
import { UsageError } from '../base/usage-error.ts';
import type { Fields } from './read-fields.ts';

/** Converts `tools` and `disallowedTools`, written as API objects or as tool names of Claude Code. Unknown names are added to the notes. */
export function toToolParams(
  file: string,
  { tools, disallowedTools: disallowed }: Fields,
  { isAllByDefault }: { readonly isAllByDefault: boolean },
  notes: string[],
): readonly ToolParams[] {
  const denied = toList(file, 'disallowedTools', disallowed).flatMap((each) => toUse(each, notes) ?? []);
  if (tools === undefined || tools === null || tools === '' || tools === '*') {
    return isAllByDefault || tools === '*' ? [allBut(denied)] : [];
  }
  const list = toList(file, 'tools', tools);
  const written = list.filter((each): each is object => typeof each === 'object' && each !== null);
  const uses = list.flatMap((each) => (typeof each === 'string' ? (toUse(each, notes) ?? []) : []));
  const named = list.includes('*') ? [allBut(denied)] : only(uses, denied);
  // The server checks the fields.
  return [...(written as ToolParams[]), ...named];
}

interface Use {
  readonly name: BuiltInToolName;
  /** The tool is allowed or denied for some inputs only, such as Bash(git *). The API has no such policy, so each call needs an approval. */
  readonly isNarrowed: boolean;
}

function toList(file: string, field: string, value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  // Commas inside parentheses belong to a pattern.
  if (typeof value === 'string') return value.match(/[^,(]+(?:\([^)]*\))?/g)?.map((each) => each.trim()) ?? [];
  if (Array.isArray(value)) return value;
  throw new UsageError(`${file}: "${field}" is not a list of tools.`, 'Write names such as Read, Grep, Bash.');
}

function toUse(entry: unknown, notes: string[]): Use | undefined {
  const [, name = '', pattern] = /^([^(]*)(\(.*\))?$/s.exec(String(entry).trim()) ?? [];
  if (name === '' || DELEGATION.has(name)) return undefined;
  const known = NAMES[name] ?? builtInToolNames.find((each) => each === name);
  if (known === undefined) {
    notes.push(`the tool "${name}" does not exist and is ignored`);
    return undefined;
  }
  return { name: known, isNarrowed: pattern !== undefined && pattern !== '(*)' };
}

function only(uses: readonly Use[], denied: readonly Use[]): ToolParams[] {
  const wanted = [...new Map(uses.map((use) => [use.name, use])).values()];
  const allowed = wanted.filter(({ name }) => !isDenied(denied, name));
  if (allowed.length === 0) return [];
  const configs = allowed.map(({ name, isNarrowed }) => ({
    name,
    enabled: true,
    ...(isNarrowed ? { permission_policy: { type: 'always_ask' as const } } : {}),
  }));
  return [{ type: 'agent_toolset_20260401', default_config: { enabled: false }, configs }];
}

function allBut(denied: readonly Use[]): ToolParams {
  // A tool that is denied for some inputs needs an approval.
  const configs = denied.map(({ name, isNarrowed }) =>
    isNarrowed ? { name, permission_policy: { type: 'always_ask' as const } } : { name, enabled: false },
  );
  return { type: 'agent_toolset_20260401', configs };
}

function isDenied(denied: readonly Use[], name: BuiltInToolName): boolean {
  return denied.some((use) => use.name === name && !use.isNarrowed);
}

/** Delegation tools, which are ignored: every coordinator has its own. */
const DELEGATION = new Set(['Task', 'Agent']);

const NAMES: Readonly<Record<string, BuiltInToolName | undefined>> = {
  Bash: 'bash',
  Read: 'read',
  Write: 'write',
  Edit: 'edit',
  MultiEdit: 'edit',
  Glob: 'glob',
  Grep: 'grep',
  WebFetch: 'web_fetch',
  WebSearch: 'web_search',
};

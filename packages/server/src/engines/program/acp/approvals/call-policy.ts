import type { AgentSnapshot, BuiltInToolName } from '@fleetloom/protocol/managed-agents';
import { type ToolChoice, toToolChoices } from '../../tool-choices.ts';

/** The permission modes of an ACP agent. `default`: its definition decides. `deny`: every call that needs a person's approval is denied. */
export const permissionModes = ['default', 'deny'] as const;

/** Returns the definition's choice for a call of this kind. */
export type CallPolicy = (kind: string | undefined) => ToolChoice;

/** Reads the definition of an agent. ACP has kinds of calls instead of tool names. */
export function toCallPolicy(agent: Pick<AgentSnapshot, 'tools' | 'mcp_servers'>): CallPolicy {
  const choices = toToolChoices(agent);
  return (kind = 'other') => {
    if (HARMLESS.has(kind)) return 'allow';
    const tool = tools.get(kind);
    return tool === undefined ? choices.unknown : choices.builtin(tool);
  };
}

/** The name of a call of this kind, for calls without a name. */
export function toToolName(kind: string | undefined): string | undefined {
  return tools.get(kind ?? '');
}

const HARMLESS = new Set(['think', 'switch_mode']);

const tools: ReadonlyMap<string, BuiltInToolName> = new Map([
  ['execute', 'bash'],
  ['read', 'read'],
  ['search', 'read'],
  ['edit', 'edit'],
  ['delete', 'edit'],
  ['move', 'edit'],
  ['fetch', 'web_fetch'],
]);

import type { AgentSnapshot, BuiltInToolName } from '@fleetloom/protocol/managed-agents';
import { type ToolChoice, toToolChoices } from '../../tool-choices.ts';

/** How much an ACP agent may do. `default`: what its definition says. `deny`: every call that it asks for is denied. */
export const permissionModes = ['default', 'deny'] as const;

/** What the definition says about a call of this kind. */
export type CallPolicy = (kind: string | undefined) => ToolChoice;

/** Reads the definition of an agent. ACP has kinds of calls and not names of tools. */
export function toCallPolicy(agent: Pick<AgentSnapshot, 'tools' | 'mcp_servers'>): CallPolicy {
  const choices = toToolChoices(agent);
  return (kind = 'other') => {
    if (HARMLESS.has(kind)) return 'allow';
    const tool = tools.get(kind);
    return tool === undefined ? choices.unknown : choices.builtin(tool);
  };
}

/** How a call of this kind is named where the agent has no name for it. */
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

import type { RuleMatch, StandingRuleParams } from '@fleetloom/protocol/fleet';
import { proposeRule } from '@fleetloom/protocol/rules';
import { type SessionAgent, toRoster } from '@fleetloom/protocol/managed-agents';
import type { InboxItem } from './inbox-items.ts';

/** What the form for a rule has: where the rule holds, and which inputs it allows. */
export interface RuleDraft {
  readonly scope: 'session' | 'agent';
  readonly match: RuleMatch;
}

/** The narrowest useful rule about a call; null if no rule can match it. */
export function toRuleDraft({ tool, input, plan }: Pick<InboxItem, 'tool' | 'input' | 'plan'>): RuleDraft | null {
  const match = plan === null ? proposeRule(tool, input) : null;
  return match === null ? null : { scope: 'session', match };
}

/** The request that creates the rule. It holds for agents with the name of the one that made the call. */
export function toRuleParams(
  { scope, match }: RuleDraft,
  { session, row, tool }: Pick<InboxItem, 'session' | 'row' | 'tool'>,
): StandingRuleParams {
  const agentId = scope === 'agent' ? findAgentId(session.record?.agent, row.agent) : undefined;
  return {
    scope: agentId === undefined ? { type: 'session', session_id: session.id } : { type: 'agent', agent_id: agentId },
    agent_name: row.agent,
    tool,
    match,
  };
}

/** The stored agent of a thread: one of the roster, or the session's own, which also runs a program's sub-agents. */
export function findAgentId(agent: SessionAgent | undefined, name: string): string | undefined {
  if (agent === undefined || agent.name === name) return agent?.id;
  return toRoster(agent.multiagent).find((member) => member.name === name)?.id ?? agent.id;
}

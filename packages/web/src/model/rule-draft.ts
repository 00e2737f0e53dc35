import type { RuleMatch, StandingRuleParams } from '@fleetloom/protocol/fleet';
import { proposeRule } from '@fleetloom/protocol/rules';
import { type SessionAgent, toRoster } from '@fleetloom/protocol/managed-agents';
import type { InboxItem } from './inbox-items.ts';

/** The fields of the form for a rule: the scope of the rule, and the inputs that it allows. */
export interface RuleDraft {
  readonly scope: 'session' | 'agent';
  readonly match: RuleMatch;
}

/** The narrowest useful rule about a call; null if no rule can match it. */
export function toRuleDraft({ tool, input, plan }: Pick<InboxItem, 'tool' | 'input' | 'plan'>): RuleDraft | null {
  const match = plan === null ? proposeRule(tool, input) : null;
  return match === null ? null : { scope: 'session', match };
}

/** The request that creates the rule, which applies to agents with the same name as the agent that made the call. */
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

/** The id of a thread's stored agent: an agent of the roster, or the session's own agent, which also runs a program's sub-agents. */
export function findAgentId(agent: SessionAgent | undefined, name: string): string | undefined {
  if (agent === undefined || agent.name === name) return agent?.id;
  return toRoster(agent.multiagent).find((member) => member.name === name)?.id ?? agent.id;
}

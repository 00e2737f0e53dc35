import { type RuleMatch, type RuleScope, type StandingRule, toRuleText } from '@fleetloom/protocol/fleet';

/** A rule as it is stored. */
export interface Rule {
  readonly id: string;
  readonly scope: RuleScope;
  /** Null: of every agent in the scope. */
  readonly agentName: string | null;
  readonly tool: string;
  readonly match: RuleMatch;
  /** The name of the key that created it. */
  readonly createdBy: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** The rule in one line, as decisions, lists and logs show it. */
export function describeRule({ tool, match }: Pick<Rule, 'tool' | 'match'>): string {
  if (match.type === 'any') return toRuleText({ tool, field: null, pattern: '*' });
  if (match.type === 'input') return toRuleText({ tool, field: null, pattern: JSON.stringify(match.input) });
  return toRuleText({ tool, field: match.type, pattern: match.pattern });
}

/** The rule in responses. */
export function toWireRule(rule: Rule): StandingRule {
  const { id, scope, agentName, tool, match, createdBy, createdAt, expiresAt } = rule;
  return {
    type: 'approval_rule',
    id,
    scope,
    agent_name: agentName,
    tool,
    match,
    text: describeRule(rule),
    created_by: createdBy,
    created_at: new Date(createdAt).toISOString(),
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}

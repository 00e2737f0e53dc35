/** A standing rule: the server allows matching tool calls without a person. */
export interface StandingRule {
  readonly type: 'approval_rule';
  readonly id: string;
  readonly scope: RuleScope;
  /** Limits the rule to calls of agents with this name; null: every agent in the scope. */
  readonly agent_name: string | null;
  /** The tool as approvals name it; a tool of an MCP server is `<server>: <tool>`. */
  readonly tool: string;
  readonly match: RuleMatch;
  /** The rule in one line, as decisions name it. */
  readonly text: string;
  /** The name of the API key that created the rule. */
  readonly created_by: string;
  readonly created_at: string;
  readonly expires_at: string | null;
}

/** The scope of a rule: one session, or all sessions of one agent. */
export type RuleScope =
  | { readonly type: 'session'; readonly session_id: string }
  | { readonly type: 'agent'; readonly agent_id: string };

/** Which inputs of the tool a rule allows. `*` in a pattern stands for any text; in a path for any text without `/`. */
export type RuleMatch =
  | { readonly type: 'command'; readonly pattern: string }
  | { readonly type: 'path'; readonly pattern: string }
  /** Exactly this input. */
  | { readonly type: 'input'; readonly input: unknown }
  /** Every input. */
  | { readonly type: 'any' };

/** The body of the request that creates a rule. */
export interface StandingRuleParams {
  readonly scope: RuleScope;
  readonly agent_name?: string | null;
  readonly tool: string;
  readonly match: RuleMatch;
  readonly expires_at?: string | null;
}

/** The response to the creation of a rule. */
export interface CreatedRule extends StandingRule {
  /** How many pending approvals the rule answered at once. */
  readonly answered: number;
}

/** The rules of the workspace, newest first. */
export interface StandingRuleList {
  readonly data: readonly StandingRule[];
}

/** How many pending approvals a rule would answer, as far as their inputs show. */
export interface RulePreview {
  readonly type: 'approval_rule_preview';
  readonly text: string;
  readonly matches: number;
}

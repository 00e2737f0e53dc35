import type { AgentReference, AgentReferenceParams, AgentSnapshot } from './agent.ts';

// Whom an agent may delegate to. There are two forms of saying it: `coordinator`, and `multiagent_20261001`, which adds
// workflows, an advisor and inline agents. Those three we do not have, so we never answer that they are enabled.

/** As an agent shows it: each member with the version that it was pinned to when the agent was saved. */
export type Multiagent = Coordinator<AgentReference> | Multiagent20261001<AgentReference>;

/** As a session shows it: each member with all that it is made of. */
export type SessionMultiagent = Coordinator<RosterMember> | Multiagent20261001<RosterMember>;

/** An agent that the coordinator of a session may start as a thread. */
export type RosterMember = AgentSnapshot;

export interface Coordinator<Member> {
  readonly type: 'coordinator';
  readonly agents: readonly Member[];
}

export interface Multiagent20261001<Member> {
  readonly type: 'multiagent_20261001';
  readonly subagents: Subagents<Member>;
  readonly workflows: Disabled;
  readonly advisor: Disabled;
}

type Subagents<Member> =
  | Disabled
  | { readonly type: 'enabled'; readonly predefined_agents: readonly Member[]; readonly inline_agents: Disabled };

export interface Disabled {
  readonly type: 'disabled';
}

/** What a caller sends. What of it is refused, although the form allows it, the server says. */
export type MultiagentParams = CoordinatorParams | Multiagent20261001Params;

export interface CoordinatorParams {
  readonly type: 'coordinator';
  readonly agents: readonly RosterEntryParams[];
}

/** The id alone stands for the newest version; `self` for the agent that owns the roster. */
export type RosterEntryParams = string | AgentReferenceParams | { readonly type: 'self' } | AdvisorParams;
export interface AdvisorParams {
  readonly type: 'advisor';
  readonly model: string;
}

/** Null stands for the default. On an update of the same form, what is left out keeps its value, level by level. */
export interface Multiagent20261001Params {
  readonly type: 'multiagent_20261001';
  readonly subagents?: SubagentsParams | null;
  readonly workflows?: SubagentsParams | null;
  readonly advisor?: Disabled | { readonly type: 'enabled'; readonly model: string } | null;
}
export type SubagentsParams =
  | Disabled
  | {
      readonly type: 'enabled';
      readonly predefined_agents?: readonly PredefinedAgentParams[] | null;
      readonly inline_agents?: Disabled | { readonly type: 'enabled' } | null;
    };
export type PredefinedAgentParams = Exclude<RosterEntryParams, AdvisorParams>;

/** Whom a session's coordinator may start, in either form. Nobody if it may not delegate. */
export function toRoster(multiagent: SessionMultiagent | null): readonly RosterMember[] {
  if (multiagent === null) return [];
  if (multiagent.type === 'coordinator') return multiagent.agents;
  return multiagent.subagents.type === 'enabled' ? multiagent.subagents.predefined_agents : [];
}

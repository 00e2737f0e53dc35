import type { AgentReference, AgentReferenceParams, AgentSnapshot } from './agent-snapshot.ts';

// The roster of an agent has two forms: `coordinator`, and `multiagent_20261001`, which adds workflows, an advisor and
// inline agents. Fleetloom does not support those three and always reports them as disabled.

/** The roster of an agent: each entry with the version it was pinned to when the agent was saved. */
export type Multiagent = Coordinator<RosterReference> | Multiagent20261001<RosterReference>;

/** An entry of the roster of an agent. */
export type RosterReference = AgentReference & RosterIsolation;

/** Where the threads of a roster entry work. An extension of Fleetloom. */
export interface RosterIsolation {
  /** `worktree`: each in a git worktree of its own. Absent: in the workspace of the coordinator. */
  readonly isolation?: 'worktree';
}

/** The isolation of a roster entry as a client sends it; `shared` is the default. */
export interface RosterIsolationParams {
  readonly isolation?: 'worktree' | 'shared';
}

/** The roster of a session: each entry with its whole definition. */
export type SessionMultiagent = Coordinator<RosterMember> | Multiagent20261001<RosterMember>;

/** An agent that the coordinator of a session may start as a thread. */
export type RosterMember = AgentSnapshot & RosterIsolation;

/** A roster in its first form. */
export interface Coordinator<Member> {
  readonly type: 'coordinator';
  readonly agents: readonly Member[];
}

/** A roster in its second form. */
export interface Multiagent20261001<Member> {
  readonly type: 'multiagent_20261001';
  readonly subagents: Subagents<Member>;
  readonly workflows: Disabled;
  readonly advisor: Disabled;
}

type Subagents<Member> =
  | Disabled
  | { readonly type: 'enabled'; readonly predefined_agents: readonly Member[]; readonly inline_agents: Disabled };

/** A feature that is off. */
export interface Disabled {
  readonly type: 'disabled';
}

/** A roster as a client sends it. The server rejects the features that it does not support. */
export type MultiagentParams = CoordinatorParams | Multiagent20261001Params;

/** A roster in its first form, as a client sends it. */
export interface CoordinatorParams {
  readonly type: 'coordinator';
  readonly agents: readonly RosterEntryParams[];
}

/** An entry of a roster. An id alone means the newest version; `self` the agent that owns the roster. */
export type RosterEntryParams =
  | string
  | (AgentReferenceParams & RosterIsolationParams)
  | ({ readonly type: 'self' } & RosterIsolationParams)
  | AdvisorParams;
/** An advisor; not supported. */
export interface AdvisorParams {
  readonly type: 'advisor';
  readonly model: string;
}

/** A roster in its second form. Null means the default. On an update of the same form, absent fields keep their value at every level. */
export interface Multiagent20261001Params {
  readonly type: 'multiagent_20261001';
  readonly subagents?: SubagentsParams | null;
  readonly workflows?: SubagentsParams | null;
  readonly advisor?: Disabled | { readonly type: 'enabled'; readonly model: string } | null;
}
/** Sub-agents of a roster in its second form. */
export type SubagentsParams =
  | Disabled
  | {
      readonly type: 'enabled';
      readonly predefined_agents?: readonly PredefinedAgentParams[] | null;
      readonly inline_agents?: Disabled | { readonly type: 'enabled' } | null;
    };
/** An entry of a roster in its second form. */
export type PredefinedAgentParams = Exclude<RosterEntryParams, AdvisorParams>;

/** The tool with which a coordinator merges the changes of a thread in a worktree of its own. An extension of Fleetloom. */
export const MERGE_TOOL = 'merge_changes';

/** The roster of a session's coordinator, in either form. Empty if it may not delegate. */
export function toRoster(multiagent: SessionMultiagent | null): readonly RosterMember[] {
  if (multiagent === null) return [];
  if (multiagent.type === 'coordinator') return multiagent.agents;
  return multiagent.subagents.type === 'enabled' ? multiagent.subagents.predefined_agents : [];
}

import type {
  AgentReference,
  Coordinator,
  Multiagent20261001,
  RosterIsolation,
} from '@fleetloom/protocol/managed-agents';

/** A roster as it is kept: members pinned, and the agent itself by what it is, because its version grows. */
export type StoredMultiagent =
  | { readonly type: 'coordinator'; readonly members: readonly StoredMember[] }
  /** Null: it may not delegate at all. */
  | { readonly type: 'multiagent_20261001'; readonly members: readonly StoredMember[] | null };

/** An agent of a roster: pinned to a version, or the coordinator. */
export type StoredMember = (AgentReference | { readonly type: 'self' }) & RosterIsolation;

/** The agents of a roster; empty without one. */
export function membersOf(multiagent: StoredMultiagent | null): readonly StoredMember[] {
  return multiagent?.members ?? [];
}

/** The form that was asked for, with each member as `show` gives it. */
export function spellOut<Member>(
  multiagent: StoredMultiagent,
  show: (member: StoredMember) => Member,
): Coordinator<Member> | Multiagent20261001<Member> {
  if (multiagent.type === 'coordinator') return { type: 'coordinator', agents: multiagent.members.map(show) };
  const { type, members } = multiagent;
  const disabled = { type: 'disabled' } as const;
  const subagents =
    members === null
      ? disabled
      : ({ type: 'enabled', predefined_agents: members.map(show), inline_agents: disabled } as const);
  return { type, subagents, workflows: disabled, advisor: disabled };
}

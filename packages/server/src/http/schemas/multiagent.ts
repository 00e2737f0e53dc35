import { z } from 'zod';
import { agentLimits } from '../../agents/limits.ts';
import { httpLimits } from '../limits.ts';
import { disabled, name } from './common.ts';

const agentId = z.string().min(1).max(httpLimits.pathIdCharsMax);
/** Whether the threads of a roster entry work in worktrees of their own. */
const isolationParam = z.enum(['worktree', 'shared']).exactOptional();
const referenceParams = z.strictObject({
  type: z.literal('agent'),
  id: agentId,
  version: z.int().min(1).exactOptional(),
  isolation: isolationParam,
});
const self = z.strictObject({ type: z.literal('self'), isolation: isolationParam });
const advisor = z.strictObject({ type: z.literal('advisor'), model: name });

const predefined = z.union([agentId, z.discriminatedUnion('type', [referenceParams, self])]);
const subagentsParams = z.discriminatedUnion('type', [
  disabled,
  z.strictObject({
    type: z.literal('enabled'),
    predefined_agents: z.array(predefined).max(agentLimits.rosterMembersMax).nullable().exactOptional(),
    inline_agents: z
      .discriminatedUnion('type', [disabled, z.strictObject({ type: z.literal('enabled') })])
      .nullable()
      .exactOptional(),
  }),
]);

/** The roster of a coordinator in requests. */
export const multiagentParams = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('coordinator'),
    agents: z
      .array(z.union([agentId, z.discriminatedUnion('type', [referenceParams, self, advisor])]))
      .min(1)
      .max(agentLimits.rosterMembersMax),
  }),
  z.strictObject({
    type: z.literal('multiagent_20261001'),
    subagents: subagentsParams.nullable().exactOptional(),
    workflows: subagentsParams.nullable().exactOptional(),
    advisor: z
      .discriminatedUnion('type', [disabled, z.strictObject({ type: z.literal('enabled'), model: name })])
      .nullable()
      .exactOptional(),
  }),
]);

/** The field of a roster entry whose threads have worktrees of their own; absent for other entries. */
export const rosterIsolation = { isolation: z.literal('worktree').exactOptional() };

const reference = z.strictObject({ type: z.literal('agent'), id: z.string(), version: z.int(), ...rosterIsolation });

/** A roster in responses about agents: members by reference. */
export const multiagent = multiagentOf(reference);

/** A roster with members of another schema, such as the whole agents in responses about sessions. */
export function multiagentOf<Member extends z.ZodType>(member: Member) {
  return z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('coordinator'), agents: z.array(member) }),
    z.strictObject({
      type: z.literal('multiagent_20261001'),
      subagents: z.discriminatedUnion('type', [
        disabled,
        z.strictObject({
          type: z.literal('enabled'),
          predefined_agents: z.array(member),
          inline_agents: disabled,
        }),
      ]),
      workflows: disabled,
      advisor: disabled,
    }),
  ]);
}

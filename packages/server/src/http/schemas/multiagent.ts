import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { disabled, name } from './common.ts';

const agentId = z.string().min(1).max(limits.pathIdCharsMax);
const referenceParams = z.strictObject({
  type: z.literal('agent'),
  id: agentId,
  version: z.int().min(1).exactOptional(),
});
const self = z.strictObject({ type: z.literal('self') });
const advisor = z.strictObject({ type: z.literal('advisor'), model: name });

const predefined = z.union([agentId, z.discriminatedUnion('type', [referenceParams, self])]);
const subagentsParams = z.discriminatedUnion('type', [
  disabled,
  z.strictObject({
    type: z.literal('enabled'),
    predefined_agents: z.array(predefined).max(limits.rosterMembersMax).nullable().exactOptional(),
    inline_agents: z
      .discriminatedUnion('type', [disabled, z.strictObject({ type: z.literal('enabled') })])
      .nullable()
      .exactOptional(),
  }),
]);

export const multiagentParams = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('coordinator'),
    agents: z
      .array(z.union([agentId, z.discriminatedUnion('type', [referenceParams, self, advisor])]))
      .min(1)
      .max(limits.rosterMembersMax),
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

const reference = z.strictObject({ type: z.literal('agent'), id: z.string(), version: z.int() });

/** With members as agents show them: by reference. */
export const multiagent = multiagentOf(reference);

/** With members as sessions show them: spelled out. */
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

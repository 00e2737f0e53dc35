import { z } from 'zod';
import { ruleLimits } from '../../rules/limits.ts';
import { json } from './common.ts';

const name = z.string().min(1).max(ruleLimits.ruleNameCharsMax);
const pattern = z.string().min(1).max(ruleLimits.rulePatternCharsMax);
const time = z.iso.datetime();

const scope = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('session'), session_id: name }),
  z.strictObject({ type: z.literal('agent'), agent_id: name }),
]);

const match = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('command'), pattern }),
  z.strictObject({ type: z.literal('path'), pattern }),
  z.strictObject({ type: z.literal('input'), input: json }),
  z.strictObject({ type: z.literal('any') }),
]);

/** The body that creates or previews an approval rule. */
export const approvalRuleBody = z.strictObject({
  /** The scope of the rule: one session, or all sessions of one agent. */
  scope,
  /** Only calls of agents with this name. */
  agent_name: name.nullable().exactOptional(),
  /** The tool as approvals name it; `<server>: <tool>` for a tool of an MCP server. */
  tool: name,
  match,
  expires_at: time.nullable().exactOptional(),
});

const fields = {
  type: z.literal('approval_rule'),
  id: z.string(),
  scope,
  agent_name: z.string().nullable(),
  tool: z.string(),
  match,
  text: z.string(),
  created_by: z.string(),
  created_at: time,
  expires_at: time.nullable(),
};

/** An approval rule in responses. */
export const approvalRule = z.strictObject(fields).meta({ id: 'ApprovalRule' });

/** A rule that was just created, with the number of pending approvals that it answered. */
export const createdApprovalRule = z.strictObject({ ...fields, answered: z.int() }).meta({ id: 'CreatedApprovalRule' });

/** The pending approvals that a rule would answer, in responses. */
export const approvalRulePreview = z.strictObject({
  type: z.literal('approval_rule_preview'),
  text: z.string(),
  matches: z.int(),
});

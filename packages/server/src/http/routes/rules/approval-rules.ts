import type { CreatedRule, RulePreview, StandingRuleList, StandingRuleParams } from '@fleetloom/protocol/fleet';
import { z } from 'zod';
import type { Agents } from '../../../agents/agents.ts';
import { nameOf } from '../../../keys/name-of.ts';
import { toWireRule } from '../../../rules/rule.ts';
import type { Rules } from '../../../rules/rules.ts';
import type { Sessions } from '../../../sessions/index.ts';
import type { Store } from '../../../store/store.ts';
import type { Credential } from '../../../keys/credential.ts';
import { type AnyRoute, defineRoute } from '../../routing/route.ts';
import {
  approvalRule,
  approvalRuleBody,
  approvalRulePreview,
  createdApprovalRule,
} from '../../schemas/approval-rule.ts';
import { type CheckSessionLimits, checkUnlimited } from '../access/key-limits.ts';
import { readSession } from '../read-session.ts';

/** The services that the routes of approval rules call. */
export interface ApprovalRuleRoutesOptions {
  readonly store: Store;
  readonly agents: Pick<Agents, 'get'>;
  readonly sessions: Pick<Sessions, 'applyRule' | 'countMatches'>;
  readonly rules: Rules;
  readonly checkSessionLimits: CheckSessionLimits;
}

/** `/v1/fleet/approval_rules`: tool calls that the server allows without a person. */
export function createApprovalRuleRoutes(options: ApprovalRuleRoutesOptions): readonly AnyRoute[] {
  const { store, agents, sessions, rules, checkSessionLimits } = options;
  const path = '/v1/fleet/approval_rules' as const;
  return [
    defineRoute({
      name: 'fleet.approval_rules.create',
      summary: 'Create an approval rule, which also answers the pending approvals that it matches',
      method: 'post',
      path,
      accepts: ['api'],
      body: approvalRuleBody,
      gives: createdApprovalRule,
      handle: async ({ credential, body, audit }): Promise<CreatedRule> => {
        await checkScope(credential, body);
        await checkLimits(credential, body);
        const { workspaceId } = credential;
        const rule = await rules.create(workspaceId, body, nameOf(credential), audit);
        return { ...toWireRule(rule), answered: await sessions.applyRule(workspaceId, rule) };
      },
    }),
    defineRoute({
      name: 'fleet.approval_rules.preview',
      summary: 'Count the pending approvals that a rule would answer, without creating it',
      method: 'post',
      path: `${path}/preview`,
      accepts: ['api'],
      body: approvalRuleBody,
      gives: approvalRulePreview,
      handle: async ({ credential, body }): Promise<RulePreview> => {
        await checkScope(credential, body);
        const rule = rules.check(body, nameOf(credential));
        const matches = await sessions.countMatches(credential.workspaceId, rule);
        return { type: 'approval_rule_preview', text: toWireRule(rule).text, matches };
      },
    }),
    defineRoute({
      name: 'fleet.approval_rules.list',
      summary: 'List the approval rules of the workspace, newest first',
      method: 'get',
      path,
      accepts: ['api'],
      gives: z.strictObject({ data: z.array(approvalRule) }),
      handle: async ({ credential: { workspaceId } }): Promise<StandingRuleList> => ({
        data: (await rules.list(workspaceId)).map(toWireRule),
      }),
    }),
    defineRoute({
      name: 'fleet.approval_rules.revoke',
      summary: 'Revoke an approval rule: no decision is made by it after the response',
      method: 'delete',
      path: `${path}/{rule_id}`,
      accepts: ['api'],
      gives: z.strictObject({ type: z.literal('approval_rule_deleted'), id: z.string() }),
      handle: async ({ credential: { workspaceId }, params: { rule_id: id }, audit }) => {
        await rules.revoke(workspaceId, id, audit);
        return { type: 'approval_rule_deleted', id };
      },
    }),
  ];

  /** Rejects a rule about a session or agent that is unknown or of another workspace. */
  async function checkScope(credential: Credential, { scope }: StandingRuleParams): Promise<void> {
    if (scope.type === 'session') await readSession(store, credential, scope.session_id);
    else await agents.get(credential.workspaceId, scope.agent_id);
  }

  /** A rule decides approvals, so a limited key creates it only where it may decide each of them. */
  async function checkLimits(credential: Credential, { scope }: StandingRuleParams): Promise<void> {
    if (scope.type === 'session') await checkSessionLimits(credential, scope.session_id);
    else checkUnlimited(credential, 'approval rules of an agent', 'it may create rules of sessions that it may use');
  }
}

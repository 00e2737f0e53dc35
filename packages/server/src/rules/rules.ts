import type { StandingRuleParams } from '@fleetloom/protocol/fleet';
import { createHash } from 'node:crypto';
import type { Auditor, NewAuditEntry } from '../store/audit.ts';
import { baseLimits } from '../base/limits.ts';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { requestError } from '../base/request-error.ts';
import { isStoreError } from '../store/store-errors.ts';
import type { Store } from '../store/store.ts';
import { findRuleProblem } from './check-rule.ts';
import { ruleLimits } from './limits.ts';
import { describeRule, type Rule } from './rule.ts';

/** The approval rules of all workspaces. Every node reads them from the store for each decision, so that none is outdated. */
export interface Rules {
  /** Newest first; expired ones are left out. */
  list(workspaceId: string): Promise<readonly Rule[]>;
  /** The rule as it would be created. Throws if there cannot be such a rule. */
  check(params: StandingRuleParams, createdBy: string): Rule;
  create(workspaceId: string, params: StandingRuleParams, createdBy: string, audit?: Auditor): Promise<Rule>;
  /** Revokes a rule: from now on it makes no decision. */
  revoke(workspaceId: string, id: string, audit?: Auditor): Promise<void>;
}

/** The rules of a workspace with the revision that decisions are committed on. */
export interface RuleSet {
  readonly rules: readonly Rule[];
  readonly revision: number;
}

/** The kind of the document that has the rules of a workspace. */
export const APPROVAL_RULES = 'approval_rules';

/** Rules in one document for each workspace, so that their number is exact and each decision can name one revision. */
export function createRules({ store, clock, ids }: { store: Store; clock: Clock; ids: Ids }): Rules {
  return {
    list: async (workspaceId) => {
      const { rules } = await readRules(store, workspaceId);
      return rules.filter(isValid).toReversed();
    },

    check: toRule,

    create: async (workspaceId, params, createdBy, audit) => {
      const rule = toRule(params, createdBy);
      const entry = audit?.('approval_rule.created', rule.id, toDetails(rule));
      await changeRules(store, workspaceId, entry, (rules) => {
        const kept = rules.filter(isValid);
        if (kept.length >= ruleLimits.approvalRulesMax) {
          const problem = `the workspace has ${kept.length} approval rules, and ${ruleLimits.approvalRulesMax} are allowed`;
          throw requestError('invalid_request', problem, { advice: 'revoke rules that are not needed' });
        }
        return [...kept, rule];
      });
      return rule;
    },

    revoke: async (workspaceId, id, audit) => {
      await changeRules(store, workspaceId, audit?.('approval_rule.revoked', id), (rules) => {
        if (!rules.some((rule) => rule.id === id)) throw requestError('unknown_id', `there is no approval rule ${id}`);
        return rules.filter((rule) => rule.id !== id);
      });
    },
  };

  function isValid({ expiresAt }: Rule): boolean {
    return expiresAt === null || expiresAt > clock.now();
  }

  function toRule({ scope, agent_name: agentName, tool, match, expires_at: expires }: StandingRuleParams, by: string) {
    const expiresAt = expires == null ? null : Date.parse(expires);
    const isPast = expiresAt !== null && !(expiresAt > clock.now());
    const problem = isPast ? `expires_at: ${expires} is in the past` : findRuleProblem(tool, match);
    if (problem !== null) throw requestError('invalid_request', problem);
    const id = ids.next('rule');
    return { id, scope, agentName: agentName ?? null, tool, match, createdBy: by, createdAt: clock.now(), expiresAt };
  }
}

/** A session was deleted: rules that hold only there are deleted with it. */
export async function forgetSessionRules(store: RuleStore, workspaceId: string, sessionId: string): Promise<void> {
  const isOf = ({ scope }: Rule) => scope.type === 'session' && scope.session_id === sessionId;
  await changeRules(store, workspaceId, undefined, (rules) =>
    rules.some(isOf) ? rules.filter((rule) => !isOf(rule)) : rules,
  );
}

/** Without its text, which may hold a secret of a command: the list of rules has it. */
function toDetails(rule: Rule): object {
  const { tool, scope, agentName, match, expiresAt } = rule;
  const hash = createHash('sha256').update(describeRule(rule)).digest('hex');
  const until = expiresAt === null ? null : new Date(expiresAt).toISOString();
  return { tool, scope, agent_name: agentName, match: match.type, text_sha256: hash, expires_at: until };
}

type RuleStore = Pick<Store, 'documents'>;

async function changeRules(
  store: RuleStore,
  workspaceId: string,
  audit: NewAuditEntry | undefined,
  toNext: (rules: readonly Rule[]) => readonly Rule[],
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { rules, revision } = await readRules(store, workspaceId);
    const next = toNext(rules);
    if (next === rules) return;
    try {
      const document = { kind: APPROVAL_RULES, id: workspaceId, data: { rules: next } };
      await store.documents.put({ ...document, ifRevision: revision }, audit);
      return;
    } catch (error) {
      if (!isStoreError(error, 'version_conflict') || attempt >= baseLimits.updateAttemptsMax) throw error;
    }
  }
}

/** The rules of a workspace as they are in the store now. */
export async function readRules({ documents }: RuleStore, workspaceId: string): Promise<RuleSet> {
  const document = await documents.get(APPROVAL_RULES, workspaceId);
  // Only `createRules` writes it.
  const rules = (document?.data['rules'] ?? []) as unknown as readonly Rule[];
  return { rules, revision: document?.revision ?? 0 };
}

import { WorkBudget } from '../../base/bounded-pattern.ts';
import type { Clock } from '../../base/clock.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { Ids } from '../../base/ids.ts';
import type { Json } from '../../base/json/json.ts';
import type { ThreadData } from '../../frames/record-data.ts';
import { ruleLimits } from '../../rules/limits.ts';
import { type AskedCall, matchesRule, toShownTool } from '../../rules/match-rule.ts';
import { toPlainPath } from '../../rules/resolve-inside.ts';
import { describeRule, type Rule } from '../../rules/rule.ts';
import { APPROVAL_RULES, readRules, type RuleSet } from '../../rules/rules.ts';
import { storeLimits } from '../../store/limits.ts';
import { readPages } from '../../store/read-pages.ts';
import type { ApprovalRecord } from '../../store/records.ts';
import { isStoreError } from '../../store/store-errors.ts';
import type { Store } from '../../store/store.ts';
import type { SubmitChange, Write } from '../../store/write.ts';
import type { ClientEvent } from '../core/client-event.ts';
import type { PendingCall } from '../runtime/pending-calls.ts';
import type { DecideByRules } from '../runtime/rule-decisions.ts';
import { toWorkChange } from './to-work-change.ts';

interface DecisionParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Decides approvals by the rules of their workspace. A decision is submitted like one of a client, on the revision of the rules
 * that made it: a rule that is revoked at the same moment decides nothing.
 */
export function createRuleDecisions(parts: DecisionParts): DecideByRules {
  const { store, clock } = parts;
  return async (state, calls) => {
    const workspaceId = await store.sessions.findWorkspace(state.id);
    if (workspaceId === undefined) return 0;
    const isSelfHosted = state.created.environment.type === 'self_hosted';
    let count = 0;
    let open = calls;
    for (let attempt = 0; attempt < ruleLimits.ruleAttemptsMax && open.length > 0; attempt++) {
      const set = await readRules(store, workspaceId);
      const decided = await decideCalls(set, open, clock.now());
      if (decided.length === 0) return count;
      const writes = decided.map((each) => toWrite(parts, { ...each, workspaceId, set, isSelfHosted }));
      const outcomes = await store.commit(writes);
      count += outcomes.filter(({ ok }) => ok).length;
      const failed = outcomes.flatMap((outcome, index) => (outcome.ok ? [] : [{ ...decided[index]!, ...outcome }]));
      // Otherwise another decision came first, or the session ended.
      open = failed.filter(({ error }) => isStoreError(error, 'version_conflict')).map(({ call }) => call);
    }
    return count;
  };
}

/** How many pending approvals of each session the rules allow. A path in a workspace matches wherever the workspace may be. */
export async function findMatches(
  store: Store,
  workspaceId: string,
  rules: readonly Rule[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const [only] = rules.length === 1 ? rules : [];
  const session = only?.scope.type === 'session' ? { sessionId: only.scope.session_id } : {};
  const request = { workspaceId, ...session, isPending: true, limit: storeLimits.recordPageItemsMax };
  const found = new Map<string, number>();
  for await (const approvals of readPages((from) => store.approvals.list({ ...request, ...from }))) {
    for (const approval of approvals) {
      await yieldToEventLoop();
      const tool = toTool(approval);
      if (tool === null || !rules.some((rule) => rule.tool === tool)) continue;
      const call = await toAskedCall(store, approval, tool);
      if (call === undefined || (await findRule(rules, call, now)) === undefined) continue;
      found.set(approval.sessionId, (found.get(approval.sessionId) ?? 0) + 1);
    }
  }
  return found;
}

interface Decided {
  readonly call: PendingCall;
  readonly rule: Rule;
}

async function decideCalls({ rules }: RuleSet, calls: readonly PendingCall[], now: number): Promise<Decided[]> {
  const decided: Decided[] = [];
  for (const call of rules.length === 0 ? [] : calls) {
    const rule = await findRule(rules, call, now);
    if (rule !== undefined) decided.push({ call, rule });
  }
  return decided;
}

async function findRule(rules: readonly Rule[], call: AskedCall, now: number): Promise<Rule | undefined> {
  const budget = new WorkBudget();
  for (const rule of rules) {
    // A hundred rules for each of thousands of calls: other work runs in between.
    await yieldToEventLoop();
    if (await matchesRule(rule, call, now, budget)) return rule;
  }
  return undefined;
}

interface DecidedIn extends Decided {
  readonly workspaceId: string;
  readonly set: RuleSet;
  readonly isSelfHosted: boolean;
}

function toWrite({ clock, ids }: DecisionParts, { call, rule, workspaceId, set, isSelfHosted }: DecidedIn): Write {
  const time = clock.now();
  const id = ids.next('sevt');
  const { sessionId, threadId, toolUseId } = call;
  const event: ClientEvent = {
    type: 'user.tool_confirmation',
    tool_use_id: toolUseId,
    result: 'allow',
    deny_message: null,
    by: rule.createdBy,
    rule: describeRule(rule),
    rule_id: rule.id,
  };
  const data = { event_id: id, result: 'allow', rule_id: rule.id };
  const changes: SubmitChange[] = [
    { type: 'expect_document', kind: APPROVAL_RULES, id: workspaceId, revision: set.revision },
    { type: 'resolve_approval', approvalId: toolUseId, time, data },
    { type: 'enqueue_input', input: { id, threadId, time, data: { event } } },
    { type: 'audit', entry: { workspaceId, data: toAuditData(sessionId, toolUseId, rule) } },
    ...(isSelfHosted ? [toWorkChange(ids, time)] : []),
  ];
  return { type: 'submit', sessionId, changes };
}

function toAuditData(sessionId: string, approvalId: string, { id, tool, createdBy }: Rule): object {
  const by = { type: 'rule', rule_id: id, created_by: createdBy };
  return {
    action: 'approval.decided',
    by,
    target: approvalId,
    details: { session_id: sessionId, tool, result: 'allow' },
  };
}

/** The tool of an approval record; null if the record waits for a result. */
function toTool({ data }: ApprovalRecord): string | null {
  const { expects, name, mcp_server_name: serverName } = data;
  if (expects !== 'confirmation' || typeof name !== 'string') return null;
  return toShownTool(name, typeof serverName === 'string' ? serverName : null);
}

async function toAskedCall(
  store: Store,
  { sessionId, threadId, data }: ApprovalRecord,
  tool: string,
): Promise<AskedCall | undefined> {
  const thread = await store.threads.get(sessionId, threadId);
  if (thread === undefined) return undefined;
  // Only sessions write both records.
  const { agent } = thread.data as unknown as ThreadData;
  const input = data['input'] as Json;
  const isForeign = data['kind'] !== 'builtin';
  const about = { sessionId, agentId: agent.id, agentName: agent.name };
  return { ...about, tool, isForeign, input, toInside: async (path) => toPossiblePaths(path) };
}

/** Only the owner node knows the directory of the workspace: each suffix of an absolute path may be the path inside. */
function toPossiblePaths(path: string): readonly string[] {
  const plain = toPlainPath(path.replace(/^\//, ''), []);
  if (plain === null || !path.startsWith('/')) return plain === null ? [] : [plain];
  const names = plain.split('/');
  return names.map((_, index) => names.slice(index).join('/'));
}

import type { ApprovalRequired, ApprovalResolved } from '../wire/events.ts';
import { limits } from './limits.ts';

/** A tool call that waits, or waited, for a person's decision. */
export interface Approval {
  readonly toolUseId: string;
  readonly tool: string;
  /** `plan`: the input holds a plan. */
  readonly kind: 'tool' | 'plan';
  /** Why the agent's program asks, in its own words; null if it gives no reason. */
  readonly reason: string | null;
  /** The whole input: a person who decides must see all of it. */
  readonly input: unknown;
  readonly sessionId: string | null;
  readonly requestId: string | null;
  readonly streamId: number;
  readonly threadId: string | null;
  readonly agent: string;
  readonly depth: number;
  /** `withdrawn`: no decision is needed any more, because the turn was stopped or has ended. */
  readonly state: 'open' | 'resolved' | 'withdrawn';
  readonly askedAt: number | null;
  readonly resolvedAt: number | null;
  readonly result: string | null;
  readonly by: string | null;
  /** The standing rule that decided; null: a person decided this call. */
  readonly rule: string | null;
  /** The id of that rule if the server decided by it; null for a decision that a client sent. */
  readonly ruleId: string | null;
  /** Hash of the input that the decision was about; null if the stream does not include it. */
  readonly inputSha256: string | null;
  /** The input that the call ran with, if the decision changed it; null if the call ran as shown. */
  readonly updatedInput: unknown;
}

/** The session and run of an approval. */
export interface ApprovalPlace {
  readonly sessionId: string | null;
  readonly requestId: string | null;
}

/** A pending approval. */
export function toApproval(event: ApprovalRequired, { sessionId, requestId }: ApprovalPlace): Approval {
  return {
    toolUseId: event.tool_use_id,
    tool: event.tool,
    kind: event.kind === 'plan' ? 'plan' : 'tool',
    reason: event.reason ?? null,
    input: event.input,
    sessionId,
    requestId,
    streamId: event.stream_id,
    threadId: event.thread_id,
    agent: event.agent,
    depth: event.depth,
    state: 'open',
    askedAt: event.ts,
    resolvedAt: null,
    result: null,
    by: null,
    rule: null,
    ruleId: null,
    inputSha256: null,
    updatedInput: null,
  };
}

/** The text of the plan to approve; null for another kind of approval, or if the program sent no text. */
export function planOf({ kind, input }: Pick<Approval, 'kind' | 'input'>): string | null {
  if (kind !== 'plan' || typeof input !== 'object' || input === null || !('plan' in input)) return null;
  return typeof input.plan === 'string' && input.plan !== '' ? input.plan : null;
}

/** The pending approval of a tool call. */
export function findOpen(approvals: readonly Approval[], toolUseId: string): Approval | undefined {
  return approvals.find((approval) => approval.state === 'open' && approval.toolUseId === toolUseId);
}

/** The approvals after one of them was decided or withdrawn. */
export function resolveApproval(
  approvals: readonly Approval[],
  answered: Approval,
  event: ApprovalResolved,
): readonly Approval[] {
  const { ts: resolvedAt } = event;
  const [result, by] = [event.result ?? null, event.by ?? null];
  const { rule = null, rule_id: ruleId = null, input_sha256: inputSha256 = null } = event;
  const state = result === 'withdrawn' ? 'withdrawn' : 'resolved';
  const updatedInput = event.updated_input ?? null;
  const resolved: Approval = { ...answered, state, resolvedAt, result, by, rule, ruleId, inputSha256, updatedInput };
  return keepNewest(approvals.map((approval) => (approval === answered ? resolved : approval)));
}

/** Withdraws pending approvals whose turn has ended. */
export function withdrawApprovals(
  approvals: readonly Approval[],
  isOver: (approval: Approval) => boolean,
): readonly Approval[] {
  const isWithdrawn = (approval: Approval) => approval.state === 'open' && isOver(approval);
  if (!approvals.some(isWithdrawn)) return approvals;
  return keepNewest(approvals.map((one) => (isWithdrawn(one) ? { ...one, state: 'withdrawn' } : one)));
}

function keepNewest(approvals: readonly Approval[]): readonly Approval[] {
  let surplus = approvals.filter(({ state }) => state !== 'open').length - limits.answeredApprovalsMax;
  return surplus <= 0 ? approvals : approvals.filter(({ state }) => state === 'open' || surplus-- <= 0);
}

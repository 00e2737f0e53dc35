import type { ApprovalRequired, ApprovalResolved } from './events.ts';
import { limits } from './limits.ts';

/** Something that an agent may do only when somebody says so. */
export interface Approval {
  readonly toolUseId: string;
  readonly tool: string;
  /** `plan`: the input holds a plan. */
  readonly kind: 'tool' | 'plan';
  /** Why the program of the agent asks, in its own words; null where it does not say. */
  readonly reason: string | null;
  /** Whole, because who decides must see all of it. */
  readonly input: unknown;
  readonly sessionId: string | null;
  readonly requestId: string | null;
  readonly streamId: number;
  readonly threadId: string | null;
  readonly agent: string;
  readonly depth: number;
  /** `withdrawn`: nobody has to answer any more, because the turn that asked was stopped or is over. */
  readonly state: 'open' | 'resolved' | 'withdrawn';
  readonly askedAt: number | null;
  readonly resolvedAt: number | null;
  readonly result: string | null;
  readonly by: string | null;
  /** What was allowed for good and gave the answer; null: somebody decided this one. */
  readonly rule: string | null;
  /** Of the input that was decided about; null where the stream does not tell. */
  readonly inputSha256: string | null;
  /** The input that the call ran with, where whoever allowed it changed it; null where the call ran as it was shown. */
  readonly updatedInput: unknown;
}

/** Where an approval is asked for. */
export interface ApprovalPlace {
  readonly sessionId: string | null;
  readonly requestId: string | null;
}

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
    inputSha256: null,
    updatedInput: null,
  };
}

/** The text of the plan that an approval is about; null where it is about something else, or the program sent no text. */
export function planOf({ kind, input }: Pick<Approval, 'kind' | 'input'>): string | null {
  if (kind !== 'plan' || typeof input !== 'object' || input === null || !('plan' in input)) return null;
  return typeof input.plan === 'string' && input.plan !== '' ? input.plan : null;
}

export function findOpen(approvals: readonly Approval[], toolUseId: string): Approval | undefined {
  return approvals.find((approval) => approval.state === 'open' && approval.toolUseId === toolUseId);
}

export function resolveApproval(
  approvals: readonly Approval[],
  answered: Approval,
  event: ApprovalResolved,
): readonly Approval[] {
  const { ts: resolvedAt } = event;
  const [result, by] = [event.result ?? null, event.by ?? null];
  const [rule, inputSha256] = [event.rule ?? null, event.input_sha256 ?? null];
  const state = result === 'withdrawn' ? 'withdrawn' : 'resolved';
  const updatedInput = event.updated_input ?? null;
  const resolved: Approval = { ...answered, state, resolvedAt, result, by, rule, inputSha256, updatedInput };
  return keepNewest(approvals.map((approval) => (approval === answered ? resolved : approval)));
}

/** Nobody waits for these any more: the turn that asked is over. */
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

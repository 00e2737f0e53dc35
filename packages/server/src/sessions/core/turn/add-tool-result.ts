import { INTERRUPTED, NOT_CARRIED_OUT } from '@fleetloom/protocol/text';
import { resultApprovalId } from '../state/approval-id.ts';
import type { ApprovalClosedBy } from '../../../frames/payload-parts.ts';
import { rejectOversizedResult } from '../content-size.ts';
import type { WrittenFile } from '../../../engines/program/program.ts';
import type { Draft } from '../draft.ts';
import { type Answer, type Call, type ThreadState, textAnswer } from '../state/state.ts';

/** The words of the wire for a call that was stopped. */
const interruption = INTERRUPTED;

/** The result of a call whose approval the server withdrew, with the reason. */
const withdrawn: Partial<Record<ApprovalClosedBy, string>> = {
  restart: `${NOT_CARRIED_OUT}: the server restarted while the call waited for an answer.`,
  release: `${NOT_CARRIED_OUT}: the server ended its idle program while the call waited for an answer.`,
};

/** Logs the result of a call. Results that clients send are frames of their own. */
export function addToolResult(draft: Draft, thread: ThreadState, call: Call, answer: CallAnswer, stop?: Stop): void {
  const closesAsk = openApprovalOf(call);
  const { content, isError } = rejectOversizedResult(answer, draft.state);
  const result = {
    content,
    is_error: isError,
    is_interrupted: stop !== undefined,
    duration_ms: 'since' in call.progress ? draft.now - call.progress.since : 0,
    closes_ask: closesAsk,
    ...(closesAsk === null ? {} : toClosing(call, stop)),
  };
  if (call.kind === 'mcp') draft.event(thread, 'agent.mcp_tool_result', { mcp_tool_use_id: call.id, ...result });
  else draft.event(thread, 'agent.tool_result', { tool_use_id: call.id, ...result, ...fileOf(answer) });
}

/** `file`: what a call of a program's tool has written. */
type CallAnswer = Answer & { readonly file?: WrittenFile | undefined };

function fileOf({ isError, file }: CallAnswer): { file?: WrittenFile } {
  return isError || file === undefined ? {} : { file };
}

/** Logs the result of a call that was stopped: what it had done by then is not known. */
export function addInterruptedResult(draft: Draft, thread: ThreadState, call: Call, by?: ApprovalClosedBy): void {
  const text = by === undefined || openApprovalOf(call) === null ? undefined : withdrawn[by];
  addToolResult(draft, thread, call, textAnswer(text ?? interruption, true), { by });
}

interface Stop {
  readonly by: ApprovalClosedBy | undefined;
}

/** The pending approval that a result closes: the call was stopped, or its program refused it on its own. */
function openApprovalOf({ id, kind, progress }: Call): string | null {
  if (progress.type === 'proposed') return kind === 'custom' ? resultApprovalId(id) : id;
  if (progress.type === 'asking') return id;
  return progress.type === 'outside' ? resultApprovalId(id) : null;
}

function toClosing({ progress }: Call, stop: Stop | undefined): { readonly closed_by?: ApprovalClosedBy } {
  if (progress.type === 'proposed') return { closed_by: 'not_requested' };
  return stop?.by === undefined ? {} : { closed_by: stop.by };
}

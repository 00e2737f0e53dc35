import type { Json, JsonObject } from '../../../base/json/json.ts';
import type { ApprovalRecord, InputRecord } from '../../../store/records.ts';
import type { Store } from '../../../store/store.ts';
import type { Change } from '../../../store/write.ts';
import type { ClientInput } from '../../core/client-event.ts';
import type { TakenEvent } from '../../core/command.ts';
import { decide } from '../../core/decide.ts';
import type { Draft, Sources } from '../../core/draft.ts';
import { sessionLimits } from '../../core/limits.ts';
import { findCall, findThread } from '../../core/program/find-thread.ts';
import { type Call, primaryOf, type SessionState } from '../../core/state/state.ts';

/** A call of an agent that runs elsewhere. */
export interface CallName {
  /** `main`, or the program's name of the sub-agent. */
  readonly key: string;
  readonly callId: string;
}

/** The decision of a person about a call that runs elsewhere. */
export type ImportedAnswer = CallName &
  (
    | { readonly result: 'allow'; readonly updatedInput: Json | undefined }
    | { readonly result: 'deny'; readonly message: string | null; readonly isInterrupting: boolean }
  );

/** The report of a client that controls a session. */
export interface Control {
  /** All calls that wait for a decision now. */
  readonly asks: readonly CallName[];
  /** The calls whose decision was delivered to the program since the last request. */
  readonly delivered: readonly CallName[];
}

/** Applies decisions that were delivered to the program. They come before the results of their calls. */
export function applyDelivered(state: SessionState, { delivered }: Control, sources: Sources): readonly Draft[] {
  return delivered.map(({ key, callId }) => take(state, { type: 'answered', key, callId }, sources));
}

/** Applies approvals that were requested and decided since the last request. */
export async function applyControl(
  state: SessionState,
  { asks }: Control,
  store: Pick<Store, 'inputs'>,
  sources: Sources,
): Promise<{ readonly drafts: readonly Draft[]; readonly changes: readonly Change[] }> {
  const drafts: Draft[] = [];
  for (const { key, callId } of asks) {
    const call = callOf(state, { key, callId });
    if (call !== undefined && !call.isRequested)
      drafts.push(take(state, { type: 'ask', key, callId, kind: 'tool', reason: null, input: call.input }, sources));
  }
  const inputs = (await store.inputs.peek(state.id, sessionLimits.inputsTakenMax)).flatMap(toConfirmation);
  if (inputs.length === 0) return { drafts, changes: [] };
  drafts.push(decide(state, { type: 'inputs', inputs }, sources));
  return { drafts, changes: [{ type: 'consume_inputs', inputIds: inputs.map(({ id }) => id) }] };
}

/** The decisions about the calls in `asks`, which the program has not received yet. */
export async function findAnswers(
  state: SessionState,
  asks: readonly CallName[],
  store: Pick<Store, 'approvals'>,
): Promise<readonly ImportedAnswer[]> {
  const answers: ImportedAnswer[] = [];
  for (const { key, callId } of asks) {
    const call = callOf(state, { key, callId });
    if (call === undefined || call.answerId === null) continue;
    const approval = await store.approvals.get(state.id, call.id);
    const answer = approval === undefined ? undefined : toAnswer({ key, callId }, approval);
    if (answer !== undefined) answers.push(answer);
  }
  return answers;
}

function take(state: SessionState, event: TakenEvent['event'], sources: Sources): Draft {
  return decide(state, { type: 'program', events: [{ event }] }, sources);
}

function callOf(state: SessionState, { key, callId }: CallName): Call | undefined {
  const call = findCall(findThread(state, primaryOf(state), key), callId);
  return call?.progress.type === 'done' ? undefined : call;
}

function toConfirmation({ id, threadId, data }: InputRecord): ClientInput[] {
  // Only `sendEvents` writes events.
  const event = data['event'] as unknown as ClientInput['event'] | undefined;
  return event?.type === 'user.tool_confirmation' ? [{ id, event, threadId }] : [];
}

function toAnswer(name: CallName, { resolution }: ApprovalRecord): ImportedAnswer | undefined {
  const data: JsonObject = resolution?.data ?? {};
  const { result, deny_message: message } = data;
  if (result === 'allow') return { ...name, result, updatedInput: data['updated_input'] };
  if (result !== 'deny') return undefined;
  return {
    ...name,
    result,
    message: typeof message === 'string' ? message : null,
    isInterrupting: data['interrupt'] === true,
  };
}

import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json } from '../../../base/json/json.ts';
import type { ProgramAsk, ProgramCall } from '../../../engines/program/program.ts';
import type { Draft } from '../draft.ts';
import { isDelegation } from '../delegation/delegation-tools.ts';
import { announceRunning } from '../turn/start-turn.ts';
import { agentOf } from '../state/agent-of.ts';
import type { Call, SessionState, ThreadState } from '../state/state.ts';

/**
 * A call of an agent of a program. The program runs it, so it is open until its result arrives. A call that the definition
 * wants asked for, and a question, is only proposed: the program may refuse it on its own, so that the approval begins when
 * the program asks.
 */
export function applyProgramCall(draft: Draft, thread: ThreadState, call: ProgramCall): void {
  const { callId: call_id, name, input, tool } = call;
  if (tool.kind === 'custom' && isDelegatingCall(draft.state, thread, tool.toolName)) {
    const permission = { runs_at: 'server', evaluated_permission: 'allow' } as const;
    draft.event(thread, 'agent.tool_use', { call_id, name: tool.toolName, input, kind: 'session', ...permission });
  } else if (tool.kind === 'custom') {
    const approval = tool.isQuestion === true ? onRequest : {};
    draft.event(thread, 'agent.custom_tool_use', { call_id, name: tool.toolName, input, ...approval });
  } else if (tool.kind === 'mcp') {
    const id = draft.event(thread, 'agent.mcp_tool_use', {
      call_id,
      name: tool.toolName,
      called_as: name,
      input,
      mcp_server_name: tool.serverName,
      evaluated_permission: tool.permission,
      ...(tool.permission === 'ask' ? onRequest : {}),
    });
    startCall(draft, thread, id, tool.permission);
  } else if (tool.kind === 'builtin') {
    const permission = { runs_at: 'server', evaluated_permission: tool.permission } as const;
    const approval = tool.permission === 'ask' ? onRequest : {};
    const use = { call_id, name, input, kind: 'builtin' as const, ...permission, ...approval };
    const id = draft.event(thread, 'agent.tool_use', use);
    startCall(draft, thread, id, tool.permission);
  } else {
    const permission = { runs_at: 'server', evaluated_permission: 'allow' } as const;
    const id = draft.event(thread, 'agent.tool_use', { call_id, name, input, kind: 'session', ...permission });
    // The call waits for the sub-agent that it starts.
    startCall(draft, thread, id, 'allow');
  }
}

/** The session delegates for the program: to agents that another program runs. */
function isDelegatingCall(state: SessionState, thread: ThreadState, name: string): boolean {
  const hasOwn = agentOf(state, thread).tools.some((tool) => tool.type === 'custom' && tool.name === name);
  return isDelegation(state, thread, name, hasOwn);
}

const onRequest = { approval: 'on_request' } as const;

/**
 * The program asks. A decision that came before has been handed to the program, which does not ask then; a call that was
 * announced as allowed may be asked for all the same.
 */
export function applyApprovalRequest(draft: Draft, thread: ThreadState, call: Call | undefined, ask: ProgramAsk): void {
  if (call === undefined || call.isRequested || !isAskable(call)) return;
  const { kind, reason } = ask;
  const shown = kind === 'plan' ? toShownPlan(call.input, ask.input) : ask.input;
  const input = isDeepStrictEqual(shown, call.input) ? {} : { input: shown };
  draft.add(thread, 'approval.requested', { tool_use_id: call.id, kind, reason, ...input });
}

/** 2.1.325 asks without the plan if the model passed it in the call and wrote no plan file; it is what is decided about. */
function toShownPlan(called: Json, asked: Json): Json {
  return isObject(called) && isObject(asked) ? { ...called, ...asked } : asked;
}

function isAskable({ isAsked, progress }: Call): boolean {
  return progress.type === 'proposed' || (progress.type === 'running' && !isAsked);
}

/** A call that needs no approval runs already. */
export function startCall(draft: Draft, thread: ThreadState, id: string, permission: 'allow' | 'ask' | 'deny'): void {
  if (permission !== 'allow') return;
  announceRunning(draft, thread);
  draft.add(thread, 'tool.started', { tool_use_id: id });
}

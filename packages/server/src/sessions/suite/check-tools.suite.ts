import type { SessionFrame } from '../../frames/frames.ts';
import type { Complain } from './check-log.suite.ts';

interface KnownCall {
  readonly threadId: string;
  readonly runsAt: string;
  /** Delegation calls have a result without being started. */
  readonly isOwn: boolean;
  permission: 'allow' | 'ask' | 'deny';
  /** The program may refuse it on its own. */
  readonly isProposed: boolean;
  isRequested: boolean;
  isStarted: boolean;
  hasResult: boolean;
}

/** Checks the tool calls of a log: allowed, started, finished, each once and in this order. */
export class LogTools {
  readonly #calls = new Map<string, KnownCall>();

  take({ type, payload, threadId }: SessionFrame, complain: Complain): void {
    // A late decision changes nothing.
    if ('not_applied' in payload && payload.not_applied !== undefined) return;
    switch (type) {
      case 'agent.tool_use':
        return this.#add(payload.id, complain, {
          threadId: threadId!,
          runsAt: payload.runs_at,
          isOwn: payload.kind === 'session',
          isProposed: payload.approval === 'on_request',
          permission: payload.evaluated_permission,
        });
      case 'agent.mcp_tool_use': {
        const permission = payload.evaluated_permission;
        const isProposed = payload.approval === 'on_request';
        return this.#add(payload.id, complain, {
          threadId: threadId!,
          runsAt: 'server',
          isOwn: false,
          isProposed,
          permission,
        });
      }
      case 'agent.custom_tool_use': {
        const call = { threadId: threadId!, runsAt: 'client', isOwn: false, permission: 'allow' } as const;
        return this.#add(payload.id, complain, { ...call, isProposed: payload.approval === 'on_request' });
      }
      case 'approval.requested': {
        const call = this.#find(payload.tool_use_id, threadId, complain);
        if (call === undefined) return;
        if (!call.isProposed && !call.isStarted) complain('its approval was requested, and the call is the request');
        if (call.isRequested) complain('its approval was requested before');
        call.isRequested = true;
        call.isStarted = false;
        if (call.runsAt === 'server') call.permission = 'ask';
        return;
      }
      case 'user.tool_confirmation': {
        const call = this.#find(payload.tool_use_id, threadId, complain);
        if (call !== undefined && call.permission !== 'ask') complain('it was decided without an approval');
        if (call !== undefined) call.permission = payload.result;
        return;
      }
      case 'session.thread_created': {
        const id = payload.joined_by?.tool_use_id;
        if (id !== undefined && this.#find(id, threadId, complain)?.isStarted === false)
          complain(`${id} was not started`);
        return;
      }
      case 'tool.started': {
        const call = this.#find(payload.tool_use_id, threadId, complain);
        if (call?.isStarted === true) complain('it was started before');
        if (call !== undefined && call.permission !== 'allow')
          complain(`it was started with the permission ${call.permission}`);
        if (call !== undefined && call.runsAt !== 'server') complain(`it was started and runs at the ${call.runsAt}`);
        if (call !== undefined) call.isStarted = true;
        return;
      }
      case 'agent.tool_result':
        return this.#finish(payload.tool_use_id, threadId, complain, !payload.is_interrupted);
      case 'agent.mcp_tool_result':
        return this.#finish(payload.mcp_tool_use_id, threadId, complain, !payload.is_interrupted);
      case 'user.tool_result':
        return this.#finish(payload.tool_use_id, threadId, complain);
      case 'user.custom_tool_result':
        return this.#finish(payload.custom_tool_use_id, threadId, complain);
      case 'turn.ended':
      case 'span.model_request_start':
        for (const [id, call] of this.#calls) {
          if (call.threadId === threadId && !call.hasResult) complain(`${id} has no result`);
        }
        return;
      default:
    }
  }

  #add(id: string, complain: Complain, call: Omit<KnownCall, 'isRequested' | 'isStarted' | 'hasResult'>): void {
    if (this.#calls.has(id)) complain(`${id} is there already`);
    this.#calls.set(id, { ...call, isRequested: false, isStarted: false, hasResult: false });
  }

  #find(id: string, threadId: string | null, complain: Complain): KnownCall | undefined {
    const call = this.#calls.get(id);
    if (call === undefined) complain(`unknown call ${id}`);
    else if (call.threadId !== threadId) complain(`${id} is a call of ${call.threadId}`);
    if (call?.hasResult === true) complain(`${id} has a result already`);
    return call;
  }

  #finish(id: string, threadId: string | null, complain: Complain, isRun = false): void {
    const call = this.#find(id, threadId, complain);
    if (call === undefined) return;
    call.hasResult = true;
    // A program may refuse a call that it has proposed without starting it.
    const isDue = call.permission === 'allow' && !call.isOwn && !(call.isProposed && call.runsAt === 'client');
    if (isRun && isDue && !call.isStarted) complain(`${id} was never started`);
  }
}

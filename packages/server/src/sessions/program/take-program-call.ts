import type { ProgramCall } from '../../engines/program.ts';
import type { Draft } from '../draft.ts';
import { announceRunning } from '../start-turn.ts';
import type { ThreadState } from '../state.ts';

/**
 * A call of an agent of a program. The program runs it, so it is open until its result comes; what the definition wants
 * to be asked for is open as an ask until somebody answers.
 */
export function takeProgramCall(draft: Draft, thread: ThreadState, call: ProgramCall): void {
  const { callId: call_id, name, input, tool } = call;
  if (tool.kind === 'custom') {
    draft.event(thread, 'agent.custom_tool_use', { call_id, name: tool.toolName, input });
  } else if (tool.kind === 'mcp') {
    const id = draft.event(thread, 'agent.mcp_tool_use', {
      call_id,
      name: tool.toolName,
      called_as: name,
      input,
      mcp_server_name: tool.serverName,
      evaluated_permission: tool.permission,
    });
    startCall(draft, thread, id, tool.permission);
  } else if (tool.kind === 'builtin') {
    const permission = { runs_at: 'server', evaluated_permission: tool.permission } as const;
    const id = draft.event(thread, 'agent.tool_use', { call_id, name, input, kind: 'builtin', ...permission });
    startCall(draft, thread, id, tool.permission);
  } else {
    const permission = { runs_at: 'server', evaluated_permission: 'allow' } as const;
    const id = draft.event(thread, 'agent.tool_use', { call_id, name, input, kind: 'session', ...permission });
    // It waits for the agent that it makes, and for whatever that one waits for.
    startCall(draft, thread, id, 'allow');
  }
}

/** What nobody has to be asked for runs already. */
export function startCall(draft: Draft, thread: ThreadState, id: string, permission: 'allow' | 'ask' | 'deny'): void {
  if (permission !== 'allow') return;
  announceRunning(draft, thread);
  draft.add(thread, 'tool.started', { tool_use_id: id });
}

import { type AskedCall, toShownTool } from '../../rules/match-rule.ts';
import { resolveInside } from '../../rules/resolve-inside.ts';
import { SESSION_PATHS } from '../../tools/workspace/session-paths.ts';
import { agentOf } from '../core/state/agent-of.ts';
import { isProgramThread } from '../core/state/program-threads.ts';
import type { SessionState } from '../core/state/state.ts';

/** A tool call of a session that waits for a decision. */
export interface PendingCall extends AskedCall {
  readonly toolUseId: string;
  readonly threadId: string;
}

/** The calls of a session that wait for a decision, as rules see them. */
export function toPendingCalls(
  state: SessionState,
  openWorkspace: (threadId: string) => Promise<string>,
): readonly PendingCall[] {
  return [...state.threads.values()].flatMap((thread) => {
    const { id: agentId, name: agentName } = agentOf(state, thread);
    const isOfProgram = isProgramThread(state, thread);
    const meaning = isOfProgram ? { isAbsoluteOnly: true } : { names: [SESSION_PATHS[0]!.shown] };
    const asking = [...thread.calls.values()].filter(({ progress }) => progress.type === 'asking');
    return asking.map(({ id: toolUseId, name, serverName, kind, input, runsAt }) => ({
      toolUseId,
      threadId: thread.id,
      sessionId: state.id,
      agentId,
      agentName,
      tool: toShownTool(name, serverName),
      isForeign: kind !== 'builtin',
      input,
      toInside: async (path: string) => {
        // The files are with the worker, where this process cannot look for symbolic links.
        if (runsAt !== 'server') return [];
        const inside = await resolveInside(await openWorkspace(thread.id), path, meaning);
        return inside === null ? [] : [inside];
      },
    }));
  });
}

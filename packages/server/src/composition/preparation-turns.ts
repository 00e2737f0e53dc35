import { FairTurns } from '../base/fair-turns.ts';
import type { Store } from '../store/store.ts';
import type { InTurn } from '../workspaces/clone/in-turn.ts';
import { compositionLimits } from './limits.ts';

/** Limits concurrent clones, setup commands and installations: each starts processes that may run for minutes. */
export function createPreparationTurns(store: { readonly sessions: Pick<Store['sessions'], 'findWorkspace'> }): InTurn {
  const { preparationsMax, preparationsOfWorkspaceMax } = compositionLimits;
  const turns = new FairTurns(preparationsMax, preparationsOfWorkspaceMax);
  return async (sessionId, signal, work) => {
    const workspaceId = await store.sessions.findWorkspace(sessionId);
    // A session without a workspace was deleted in the meantime; its signal will be aborted.
    return await turns.run(workspaceId ?? sessionId, signal, work);
  };
}

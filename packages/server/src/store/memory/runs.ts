import { positionOfRun, runListOf } from '../fold-runs.ts';
import { found } from '../guards.ts';
import type { Runs } from '../store.ts';
import { pageOf } from './lists.ts';
import type { State } from './state.ts';

export function createRuns(state: State): Runs {
  const runsOf = (sessionId: string) => found(state.logs.get(sessionId), sessionId).runs;
  return {
    findAt: async (sessionId, seq) => runsOf(sessionId).findLast(({ firstSeq }) => firstSeq <= seq),
    findSince: async (sessionId, time) => runsOf(sessionId).find(({ startedAt }) => startedAt >= time),
    get: async (sessionId, runId) => runsOf(sessionId).find(({ id }) => id === runId),
    list: async (request) => {
      const sessions = state.sessions.values().filter(({ workspaceId }) => workspaceId === request.workspaceId);
      const runs = sessions.flatMap(({ id }) => runsOf(id));
      const isWanted =
        'isOpen' in request
          ? ({ endedAt }: { endedAt: number | null }) => endedAt === null
          : ({ startedAt }: { startedAt: number }) => startedAt >= request.startedFrom;
      const { items, next } = pageOf(runListOf(request), runs.filter(isWanted), request, positionOfRun);
      return { items, next };
    },
  };
}

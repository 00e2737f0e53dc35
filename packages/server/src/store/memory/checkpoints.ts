import { found } from '../guards.ts';
import type { Checkpoints, NewCheckpoint } from '../store.ts';
import type { State } from './state.ts';

export function createCheckpoints(state: State): Checkpoints {
  const find = ({ sessionId, kind, upTo }: { sessionId: string; kind: string; upTo: number }) => {
    const { checkpoints } = found(state.logs.get(sessionId), sessionId);
    const before = checkpoints.filter((each) => each.kind === kind && each.seq <= upTo);
    return before.toSorted((a, b) => a.seq - b.seq).at(-1);
  };
  return {
    find: async (request) => {
      const checkpoint = find(request);
      return checkpoint && { seq: checkpoint.seq, bytes: checkpoint.data.length, data: checkpoint.data };
    },
    findSeq: async (request) => {
      const checkpoint = find(request);
      return checkpoint && { seq: checkpoint.seq, bytes: checkpoint.data.length };
    },
    epoch: async (sessionId) => found(state.logs.get(sessionId), sessionId).epoch,
    put: async (given) => {
      const { sessionId, kind, seq, replacesOlder } = given;
      const log = state.logs.get(sessionId);
      if (log === undefined || log.epoch !== given.epoch) return;
      const isKept = (each: NewCheckpoint) => each.kind !== kind || (replacesOlder ? each.seq > seq : each.seq !== seq);
      const data = Uint8Array.from(given.data);
      state.logs.set(sessionId, { ...log, checkpoints: [...log.checkpoints.filter(isKept), { ...given, data }] });
    },
  };
}

import { type SessionState, type ThreadState, threadOf } from '../core/state/state.ts';

/** The id of a wait for a retry. */
export function waitId(threadId: string, at: number): string {
  return `${threadId} ${at}`;
}

/** Whether the state still wants a request, a wait or a tool. */
export function isWanted(state: SessionState, threadId: string, id: string): boolean {
  return toWanted(threadOf(state, threadId)).includes(id);
}

/** The ids of the work that a thread waits for: a model request, a retry, tools that were not aborted. */
export function toWanted({ id: threadId, turn, calls }: ThreadState): string[] {
  if (turn === null) return [];
  const { phase, stopping } = turn;
  const running = stopping === null ? [...calls.values()].filter(({ progress }) => progress.type === 'running') : [];
  const wanted = running.map(({ id }) => id);
  if (phase.type === 'requesting') wanted.push(phase.startId);
  if (phase.type === 'waiting') wanted.push(waitId(threadId, phase.at));
  return wanted;
}

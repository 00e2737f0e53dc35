import { programLimits } from '../../limits.ts';
import type { SilentAgent } from './silent-agent.ts';

/** The part of a transcript that a read waits for. */
export type Wanted =
  /** Its first record, which has the prompt. */
  | { readonly type: 'prompt' }
  /** All that is written now. */
  | { readonly type: 'now' }
  /** The transcript up to this call. */
  | { readonly type: 'call'; readonly callId: string }
  /** All of the transcript: the agent has ended. */
  | { readonly type: 'end'; readonly isCompleted: boolean };

/** A wait for the transcript of an agent. */
export interface WaitState {
  /** When the wait began, in ms since 1970: the program writes its last records with a delay. */
  readonly since: number;
  readonly hasCall: (callId: string) => boolean;
}

/** Whether the wanted part of an agent's transcript was read. */
export function isThere(agent: SilentAgent, wanted: Wanted, { since, hasCall }: WaitState): boolean {
  if (wanted.type === 'now' || agent.isCut) return true;
  if (wanted.type === 'prompt') return agent.hasBegun;
  if (wanted.type === 'call') return hasCall(wanted.callId);
  // An agent that was stopped before it began has no transcript.
  if (agent.file === undefined) return !wanted.isCompleted;
  if (wanted.isCompleted && (agent.isFinished || agent.isCalling)) return agent.isFinished;
  const quietMs = Date.now() - Math.max(since, agent.file.changedAt);
  return quietMs >= (wanted.isCompleted ? programLimits.transcriptQuietMs : programLimits.transcriptStoppedMs);
}

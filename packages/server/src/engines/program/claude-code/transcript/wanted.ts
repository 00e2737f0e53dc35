import { programLimits } from '../../limits.ts';
import type { SilentAgent } from './silent-agent.ts';

/** How much of a transcript is waited for. */
export type Wanted =
  /** Its first record, which has the prompt. */
  | { readonly type: 'prompt' }
  /** What is there now. */
  | { readonly type: 'now' }
  /** The transcript up to this call. */
  | { readonly type: 'call'; readonly callId: string }
  /** All of the transcript: the agent has ended. */
  | { readonly type: 'end'; readonly isCompleted: boolean };

/** A wait for the transcript of an agent. */
export interface WaitState {
  /** When the wait began: the program writes its last records with a delay. */
  readonly since: number;
  readonly hasCall: (callId: string) => boolean;
}

/** Whether what is wanted of the transcript of an agent has been read. */
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

import type { FramePayloads, SessionFrame } from '../../frames/frames.ts';
import { LogRequests } from './check-requests.suite.ts';
import { LogTools } from './check-tools.suite.ts';
import { LogTurns } from './check-turns.suite.ts';

/**
 * The problems of a log, at whatever point it ends; empty if it is valid. The checker keeps its own state and does not use the
 * state machine that wrote the log.
 */
export function findLogProblems(frames: readonly SessionFrame[]): string[] {
  const problems: string[] = [];
  const turns = new LogTurns();
  const requests = new LogRequests();
  const tools = new LogTools();
  const messages = new Map<string, 'waiting' | 'over'>();
  let isOver = false;
  let time = 0;
  for (const [index, frame] of frames.entries()) {
    const complain = (problem: string) => void problems.push(`frame ${frame.seq} (${frame.type}): ${problem}`);
    if (frame.seq !== index + 1) complain(`has the place ${index + 1}`);
    if ((index === 0) !== (frame.type === 'session.created')) complain('is not where it belongs');
    if (frame.time < time) complain(`is ${time - frame.time} ms before the one before it`);
    // A session that had ended can still be archived.
    const isPutAway = frame.type === 'session.status_terminated' && frame.payload.is_archived;
    const isLateAnswer = 'not_applied' in frame.payload && frame.payload.not_applied === 'session_ended';
    if (isOver && !isPutAway && !isLateAnswer) complain('comes after the end of the session');
    turns.take(frame, complain);
    requests.take(frame, complain);
    tools.take(frame, complain);
    if (frame.type === 'user.message' || frame.type === 'system.message')
      takeMessage(messages, frame.payload, complain);
    if (frame.type === 'turn.flushed') for (const id of frame.payload.message_ids) messages.set(id, 'over');
    if (frame.type === 'session.status_terminated') isOver = true;
    time = Math.max(time, frame.time);
  }
  return problems;
}

/** Records a problem of a log. */
export type Complain = (problem: string) => void;

/** Each message is delivered to the agent once, and announced at most once before. */
function takeMessage(
  messages: Map<string, 'waiting' | 'over'>,
  { id, is_processed: isProcessed }: FramePayloads['user.message'] | FramePayloads['system.message'],
  complain: Complain,
): void {
  const before = messages.get(id);
  if (before === 'over') complain(`${id} was delivered or dropped before`);
  if (before === 'waiting' && !isProcessed) complain(`${id} waits twice`);
  messages.set(id, isProcessed ? 'over' : 'waiting');
}

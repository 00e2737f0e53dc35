import type { AgentEvent, StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { MAIN } from '../../program.ts';

/** Whether a line is something that an agent does or is given, for which its thread has to be open. */
export function isSaying({ type }: StreamJsonMessage): boolean {
  return type === 'assistant' || type === 'stream_event' || type === 'user';
}

/** Whose line it is. One that says nothing new is of the main agent: only that one streams. */
export function threadOf(line: StreamJsonMessage, events: readonly AgentEvent[]): string | undefined {
  return events.at(-1)?.thread ?? (line['parent_tool_use_id'] === null ? MAIN : undefined);
}

import type { AgentEvent, StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { MAIN } from '../../program.ts';

/** Whether a line is output or input of an agent, for which its thread must be open. */
export function isSaying({ type }: StreamJsonMessage): boolean {
  return type === 'assistant' || type === 'stream_event' || type === 'user';
}

/** The thread of a line. A line without events belongs to the main agent, because only the main agent streams. */
export function threadOf(line: StreamJsonMessage, events: readonly AgentEvent[]): string | undefined {
  return events.at(-1)?.thread ?? (line['parent_tool_use_id'] === null ? MAIN : undefined);
}

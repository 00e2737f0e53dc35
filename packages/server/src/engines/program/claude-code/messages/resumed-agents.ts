import { parseLine, type StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { programLimits } from '../../limits.ts';
import { record, text } from '../../lines/values.ts';
import { blocksOf } from '../transcript/silent-agent.ts';

/**
 * Sub-agents that the main agent continues with a message. 2.1.197 prints no task line when a sub-agent was started in the background
 * and is continued while its process still has it: the result of the call is then the only line that reports the new run.
 */
export class ResumedAgents {
  /** Messages of calls that send one and have no result, by call id. */
  readonly #sent = new Map<string, string>();

  /** The lines to take in place of this one. */
  expand(line: StreamJsonMessage): readonly StreamJsonMessage[] {
    if (line.subtype === 'task_started') return [this.#reported(line)];
    if (line.type === 'assistant') this.#note(line);
    else if (line.type === 'user' && this.#sent.size > 0) return this.#takeResult(line);
    return [line];
  }

  /** Replaces the prompt of the line by the message that was sent: the program wraps it in a tag if a sub-agent sent it. */
  #reported(line: StreamJsonMessage): StreamJsonMessage {
    const callId = text(line['tool_use_id']) ?? '';
    const prompt = this.#sent.get(callId);
    this.#sent.delete(callId);
    return prompt === undefined ? line : { ...line, prompt };
  }

  #note(line: StreamJsonMessage): void {
    for (const { type, id, name, input } of blocksOf(line)) {
      const message = text(record(input)?.['message']);
      if (type !== 'tool_use' || name !== 'SendMessage' || message === undefined) continue;
      this.#sent.set(text(id) ?? '', message);
      const [oldest] = this.#sent.keys();
      if (this.#sent.size > programLimits.programAgentCallsMax && oldest !== undefined) this.#sent.delete(oldest);
    }
  }

  #takeResult(line: StreamJsonMessage): StreamJsonMessage[] {
    for (const block of blocksOf(line)) {
      const callId = text(block['tool_use_id']) ?? '';
      const prompt = this.#sent.get(callId);
      if (prompt === undefined) continue;
      this.#sent.delete(callId);
      const sent = record(line['tool_use_result']) ?? parseResult(block['content']);
      const taskId = text(sent?.['resumedAgentId']);
      const result = sent === undefined ? line : { ...line, tool_use_result: sent };
      if (taskId === undefined) return [result];
      const session = line.session_id === undefined ? {} : { session_id: line.session_id };
      const started = { task_id: taskId, tool_use_id: callId, task_type: 'local_agent', prompt, ...session };
      return [{ type: 'system', subtype: 'task_started', ...started }, result];
    }
    return [line];
  }
}

/** Parses a result from its text: the program prints results of sub-agents as text only. */
function parseResult(content: unknown): Record<string, unknown> | undefined {
  const [first] = blocksOf({ type: 'user', message: { content: content as never } });
  return parseLine(text(content) ?? text(first?.['text']) ?? '') ?? undefined;
}

import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { record, text } from '../values.ts';
import type { TranscriptFile } from './transcript-file.ts';

/** A sub-agent that the program has announced, and what was read of its transcript. */
export class SilentAgent {
  readonly taskId: string;
  /** The call that the lines of the agent belong to: the one that started it. Null for agents of workflows. */
  readonly callId: string | null;
  readonly conversation: string;
  isOpen = true;
  /** The program prints lines of the agent, so that its transcript is not needed. */
  hasLines = false;
  file: TranscriptFile | undefined;
  /** What the agent was given first. */
  prompt: string | undefined;
  /** Lines that were read and not taken, because they report the end of an agent that still runs. */
  readonly held: StreamJsonMessage[] = [];
  /** Calls that the agent has made, and those of them without a result. */
  readonly calls = new Set<string>();
  readonly #openCalls = new Set<string>();
  #stopReason: string | undefined;

  constructor(taskId: string, callId: string | null, conversation: string) {
    this.taskId = taskId;
    this.callId = callId;
    this.conversation = conversation;
  }

  /** The last message in the transcript says that the agent has nothing more to do. */
  get isFinished(): boolean {
    return this.#openCalls.size === 0 && this.#stopReason !== undefined && this.#stopReason !== 'tool_use';
  }

  /** A call has no result yet, so that more will be written. */
  get isCalling(): boolean {
    return this.#openCalls.size > 0;
  }

  /** A further run begins. */
  restart(): void {
    this.isOpen = true;
    this.hasLines = false;
    this.#stopReason = undefined;
  }

  /** A call that the program asked about: its result is expected in the transcript. */
  expect(callId: string): void {
    this.calls.add(callId);
  }

  /** Keeps the next record of the transcript as the line that the program would have printed for it. */
  add(transcribed: StreamJsonMessage): void {
    if (transcribed.type === 'user') this.prompt ??= promptOf(transcribed);
    const line = this.#toLine(transcribed);
    if (line === undefined) return;
    if (line.type === 'assistant') this.#stopReason = text(line.message?.['stop_reason']);
    else this.#stopReason = undefined;
    for (const block of blocksOf(line)) {
      if (block['type'] === 'tool_use') {
        this.calls.add(String(block['id']));
        this.#openCalls.add(String(block['id']));
      } else if (block['type'] === 'tool_result') this.#openCalls.delete(String(block['tool_use_id']));
    }
    this.held.push(line);
  }

  /** Agents can write to their transcripts, so a line names this agent only, and holds results of its own calls only. */
  #toLine({ type, message, uuid, timestamp, ...fields }: StreamJsonMessage): StreamJsonMessage | undefined {
    const said = record(message);
    if ((type !== 'assistant' && type !== 'user') || said === undefined) return undefined;
    const ids = { parent_tool_use_id: this.callId, agent_id: this.taskId, session_id: this.conversation };
    const about = { ...ids, ...(text(uuid) && { uuid }), ...(text(timestamp) && { timestamp }) };
    if (type === 'assistant') {
      const error = text(fields['error']);
      return { type, message: said, ...about, ...(error !== undefined && { error }) };
    }
    const results = blocksOf({ type, message: said }).filter(
      ({ type: kind, tool_use_id: id }) => kind === 'tool_result' && this.calls.has(String(id)),
    );
    if (results.length === 0) return undefined;
    const structured = fields['toolUseResult'];
    const more = structured === undefined ? {} : { tool_use_result: structured };
    return { type, message: { role: 'user', content: results as never }, ...about, ...more };
  }
}

function promptOf(line: StreamJsonMessage): string | undefined {
  const content = record(line.message)?.['content'];
  if (typeof content === 'string') return content;
  const texts = blocksOf(line).flatMap((block) => text(block['text']) ?? []);
  return texts.length === 0 ? undefined : texts.join('\n');
}

/** The content blocks of a line. */
export function blocksOf({ message }: StreamJsonMessage): readonly Record<string, unknown>[] {
  const content = record(message)?.['content'];
  return Array.isArray(content)
    ? content.map((block: unknown) => record(block)).filter((block) => block !== undefined)
    : [];
}

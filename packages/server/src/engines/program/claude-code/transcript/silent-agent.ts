import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { programLimits } from '../../limits.ts';
import { MAIN } from '../../program.ts';
import { record, text } from '../../lines/values.ts';
import type { TranscriptFile } from './transcript-file.ts';

/** Why a transcript is not in the log, or not all of it. */
export type TranscriptProblem = 'missing' | 'too_large' | 'record_too_large' | 'unreadable';

/** A sub-agent that the program has announced, or the main agent, with the state of reading its transcript. */
export class SilentAgent {
  /** The task id of the agent; `main` for the main agent. */
  readonly taskId: string;
  /** The id of the call that started the agent, which its lines have too. Null for agents of workflows. */
  readonly callId: string | null;
  readonly conversation: string;
  isOpen = true;
  /** The program prints lines of the agent, so its transcript is not needed. */
  hasLines = false;
  file: TranscriptFile | undefined;
  /** The first prompt of the agent, until a line contains it. */
  prompt: string | undefined;
  /** The prompt or the first line of the agent was read. */
  hasBegun = false;
  /** Problems of the transcript that were not reported yet, and problems that were. */
  readonly #problems = new Set<TranscriptProblem>();
  readonly #reported = new Set<TranscriptProblem>();
  #blocks = 0;
  /** Calls that the agent has made, and calls without a result. */
  readonly calls = new Set<string>();
  readonly #openCalls = new Set<string>();
  #stopReason: string | undefined;
  /** Number of messages that were sent to the running agent and were not found in its transcript yet. */
  awaited = 0;
  /** The id of the newest model message that had a line while a message to the agent was awaited. */
  answeredId: string | undefined;

  constructor(taskId: string, callId: string | null, conversation: string) {
    this.taskId = taskId;
    this.callId = callId;
    this.conversation = conversation;
  }

  /** Whether the last message in the transcript ends the agent's run: it has a stop reason and no open calls. */
  get isFinished(): boolean {
    return this.#openCalls.size === 0 && this.#stopReason !== undefined && this.#stopReason !== 'tool_use';
  }

  /** Whether a call has no result yet, so more records will follow. */
  get isCalling(): boolean {
    return this.#openCalls.size > 0;
  }

  /** Whether the transcript is longer than the limits of reading one. */
  get isCut(): boolean {
    return this.#blocks > programLimits.transcriptBlocksMax || this.file?.isCut === true;
  }

  /** Ends the run. Everything that the agent could have made large is dropped from memory. */
  end(): void {
    this.isOpen = false;
    this.awaited = 0;
    this.prompt = undefined;
    this.calls.clear();
    this.#openCalls.clear();
  }

  /** Begins a further run. */
  restart(): void {
    this.isOpen = true;
    this.awaited = 0;
    this.#reported.clear();
    this.hasLines = false;
    this.#stopReason = undefined;
  }

  /** Adds a call for which the program requested permission: its result is expected in the transcript. */
  expect(callId: string): void {
    this.calls.add(callId);
  }

  problem(problem: TranscriptProblem): void {
    if (!this.#reported.has(problem)) this.#problems.add(problem);
  }

  /** Returns the problems to report now. Each problem is reported once in a run. */
  takeProblems(): readonly TranscriptProblem[] {
    const problems = [...this.#problems];
    for (const problem of problems) this.#reported.add(problem);
    this.#problems.clear();
    return problems;
  }

  /** The line for a record, if the record is a message that the agent received while running: the program prints no line for it. */
  toMessage(transcribed: StreamJsonMessage): StreamJsonMessage | undefined {
    // Agents can write to their transcripts: a record is accepted only if a message was sent.
    const received = this.awaited === 0 ? undefined : receivedIn(transcribed);
    if (received === undefined) return undefined;
    this.awaited--;
    const message = { role: 'user', content: [{ type: 'text', text: received }] };
    const uuid = text(transcribed['uuid']);
    const about = { parent_tool_use_id: this.callId, agent_id: this.taskId, session_id: this.conversation };
    return { type: 'user', message, ...about, ...(uuid !== undefined && { uuid }), is_thread_message: true };
  }

  /** Takes the next record of the transcript. Returns the line that the program would have printed for it, if any. */
  add(transcribed: StreamJsonMessage): StreamJsonMessage | undefined {
    if (blocksOf(transcribed).length > programLimits.transcriptRecordBlocksMax) {
      this.problem('record_too_large');
      return undefined;
    }
    if (transcribed.type === 'attachment') return this.toMessage(transcribed);
    if (transcribed.type === 'user' && !this.hasBegun) this.prompt = promptOf(transcribed);
    if (this.prompt !== undefined) this.hasBegun = true;
    const line = this.#toLine(transcribed);
    if (line === undefined) return undefined;
    const blocks = blocksOf(line);
    this.#blocks += Math.max(1, blocks.length);
    if (this.isCut) return undefined;
    this.hasBegun = true;
    this.#stopReason = line.type === 'assistant' ? text(line.message?.['stop_reason']) : undefined;
    for (const block of blocks) {
      if (block['type'] === 'tool_use') {
        this.calls.add(String(block['id']));
        this.#openCalls.add(String(block['id']));
      } else if (block['type'] === 'tool_result') this.#openCalls.delete(String(block['tool_use_id']));
    }
    return line;
  }

  /** Builds the line of a record. Agents can write to their transcripts, so a line names this agent only, and has results of its own calls only. */
  #toLine({ type, message, uuid, timestamp, ...fields }: StreamJsonMessage): StreamJsonMessage | undefined {
    const said = record(message);
    if ((type !== 'assistant' && type !== 'user') || said === undefined) return undefined;
    const agent = this.taskId === MAIN ? {} : { agent_id: this.taskId };
    const ids = { parent_tool_use_id: this.callId, ...agent, session_id: this.conversation };
    const about = { ...ids, ...(text(uuid) && { uuid }), ...(text(timestamp) && { timestamp }) };
    if (type === 'assistant') {
      const error = text(fields['error']);
      const content = Array.isArray(said['content']) ? said['content'].filter(isOfInterest) : said['content'];
      const isEmpty = Array.isArray(content) ? content.length === 0 : text(content) === undefined;
      if (isEmpty && error === undefined && text(said['stop_reason']) === undefined) return undefined;
      return { type, message: { ...said, content: content as never }, ...about, ...(error !== undefined && { error }) };
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

/** The text of a message from another agent, which the program adds to a model request of a running agent. */
function receivedIn({ type, attachment }: StreamJsonMessage): string | undefined {
  const queued = type === 'attachment' ? record(attachment) : undefined;
  const origin = queued?.['type'] === 'queued_command' ? record(queued['origin']) : undefined;
  // A sending sub-agent is a `peer`; `body` has its message without the tag that the program adds.
  if (origin?.['kind'] === 'peer') return text(origin['body']);
  if (queued === undefined || origin?.['kind'] !== 'coordinator') return undefined;
  return promptOf({ type: 'user', message: { content: queued['prompt'] as never } });
}

/** Whether a content block has a type and, if it is a call, an id of allowed length. */
function isOfInterest(value: unknown): boolean {
  const block = record(value);
  if (text(block?.['type']) === undefined) return false;
  return (
    block?.['type'] !== 'tool_use' || (text(block['id'])?.length ?? Infinity) <= programLimits.transcriptIdCharsMax
  );
}

/** The text of a transcript record, such as the prompt of its agent. */
export function promptOf(line: StreamJsonMessage): string | undefined {
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

import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { programLimits } from '../../limits.ts';
import { MAIN } from '../../program.ts';
import { record, text } from '../../lines/values.ts';
import type { TranscriptFile } from './transcript-file.ts';

/** Why a transcript is not in the log, or not all of it. */
export type TranscriptProblem = 'missing' | 'too_large' | 'record_too_large' | 'unreadable';

/** A sub-agent that the program has announced, or the main agent, and what was read of its transcript. */
export class SilentAgent {
  /** `main` for the main agent. */
  readonly taskId: string;
  /** The call that the lines of the agent belong to: the one that started it. Null for agents of workflows. */
  readonly callId: string | null;
  readonly conversation: string;
  isOpen = true;
  /** The program prints lines of the agent, so that its transcript is not needed. */
  hasLines = false;
  file: TranscriptFile | undefined;
  /** What the agent was given first, as long as no line has it. */
  prompt: string | undefined;
  /** Its prompt or its first line was read. */
  hasBegun = false;
  /** What is wrong with its transcript and was not reported yet, and what was. */
  readonly #problems = new Set<TranscriptProblem>();
  readonly #reported = new Set<TranscriptProblem>();
  #blocks = 0;
  /** Calls that the agent has made, and those of them without a result. */
  readonly calls = new Set<string>();
  readonly #openCalls = new Set<string>();
  #stopReason: string | undefined;
  /** Messages that were sent to the agent while it works, and that it has not received as far as was read. */
  awaited = 0;
  /** The last message of a model of which a line came while a message to the agent was awaited. */
  answeredId: string | undefined;

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

  /** The transcript has more than is read of one. */
  get isCut(): boolean {
    return this.#blocks > programLimits.transcriptBlocksMax || this.file?.isCut === true;
  }

  /** The run is over. An agent that has ended keeps nothing in memory that it could have made large. */
  end(): void {
    this.isOpen = false;
    this.awaited = 0;
    this.prompt = undefined;
    this.calls.clear();
    this.#openCalls.clear();
  }

  /** A further run begins. */
  restart(): void {
    this.isOpen = true;
    this.awaited = 0;
    this.#reported.clear();
    this.hasLines = false;
    this.#stopReason = undefined;
  }

  /** A call that the program asked about: its result is expected in the transcript. */
  expect(callId: string): void {
    this.calls.add(callId);
  }

  problem(problem: TranscriptProblem): void {
    if (!this.#reported.has(problem)) this.#problems.add(problem);
  }

  /** Problems that are to be reported now: each once in a run. */
  takeProblems(): readonly TranscriptProblem[] {
    const problems = [...this.#problems];
    for (const problem of problems) this.#reported.add(problem);
    this.#problems.clear();
    return problems;
  }

  /** The record as a line, if it is a message that the agent received while it worked: the program prints none. */
  toMessage(transcribed: StreamJsonMessage): StreamJsonMessage | undefined {
    // Agents can write to their transcripts: one that was sent no message receives none.
    const received = this.awaited === 0 ? undefined : receivedIn(transcribed);
    if (received === undefined) return undefined;
    this.awaited--;
    const message = { role: 'user', content: [{ type: 'text', text: received }] };
    const uuid = text(transcribed['uuid']);
    const about = { parent_tool_use_id: this.callId, agent_id: this.taskId, session_id: this.conversation };
    return { type: 'user', message, ...about, ...(uuid !== undefined && { uuid }), is_thread_message: true };
  }

  /** The next record of the transcript as the line that the program would have printed for it, if it would have. */
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

  /** Agents can write to their transcripts, so a line names this agent only, and holds results of its own calls only. */
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

/** The text of a message from another agent, which the program adds to a request of an agent that works. */
function receivedIn({ type, attachment }: StreamJsonMessage): string | undefined {
  const queued = type === 'attachment' ? record(attachment) : undefined;
  const origin = queued?.['type'] === 'queued_command' ? record(queued['origin']) : undefined;
  // A sub-agent that sends is a peer, and the program wraps its message in a tag.
  if (origin?.['kind'] === 'peer') return text(origin['body']);
  if (queued === undefined || origin?.['kind'] !== 'coordinator') return undefined;
  return promptOf({ type: 'user', message: { content: queued['prompt'] as never } });
}

/** What has a kind, and, if it is a call, an id. */
function isOfInterest(value: unknown): boolean {
  const block = record(value);
  if (text(block?.['type']) === undefined) return false;
  return (
    block?.['type'] !== 'tool_use' || (text(block['id'])?.length ?? Infinity) <= programLimits.transcriptIdCharsMax
  );
}

/** What a record of a transcript says to its agent. */
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

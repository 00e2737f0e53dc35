import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { programLimits } from '../../limits.ts';
import type { Schedule } from '../../../../base/schedule.ts';
import { record, text } from '../../lines/values.ts';
import { findTranscripts } from './find-transcripts.ts';
import { blocksOf, SilentAgent, type TranscriptProblem } from './silent-agent.ts';
import { TranscriptFile } from './transcript-file.ts';
import { isThere, type Wanted } from './wanted.ts';

/** Options of reading agents whose text is not in the program's output. */
export interface SilentAgentsOptions {
  /** The directory `projects` of the program's configuration. */
  readonly projects: string;
  readonly schedule: Schedule;
  /** Bytes of transcripts that earlier processes wrote, by agent: these bytes are in the log already. */
  readonly sizes: ReadonlyMap<string, number>;
  /** Takes a line that the program has not printed. If it returns a promise, reading continues when the promise resolves. */
  readonly take: (line: StreamJsonMessage, bytes: number) => Promise<void> | undefined;
  /** Called when the log does not get all of a sub-agent's transcript. */
  readonly onProblem: (taskId: string, problem: TranscriptProblem) => void;
}

/**
 * Sub-agents whose lines the program does not print: 2.1.197 prints no lines of agents of agents. Their text and calls are read
 * from their transcripts when they make progress, when they need an approval and when they end. Messages of the delegating agent, which
 * the program adds to model requests of running sub-agents, are read from the transcripts of all sub-agents.
 */
export class SilentAgents {
  readonly #options: SilentAgentsOptions;
  readonly #agents = new Map<string, SilentAgent>();
  readonly #byCall = new Map<string, SilentAgent>();
  /** Known calls, each with whether the main agent made it. */
  readonly #calls = new Map<string, boolean>();
  #isStopped = false;
  /** When the newest group of agents was stopped, in ms since 1970. */
  #stoppedAt = 0;

  constructor(options: SilentAgentsOptions) {
    this.#options = options;
  }

  /** Takes the transcript records that precede the line; undefined if none are needed. */
  before(line: StreamJsonMessage): Promise<void> | undefined {
    this.#note(line);
    if (line.type === 'result') return this.rest();
    if (line.type === 'assistant') return this.#beforeAnswer(line);
    const request = record(line['request']);
    const agent = this.#find(line.type === 'control_request' ? request?.['agent_id'] : line['task_id']);
    if (agent !== undefined && agent.awaited > 0 && agent.isOpen && endOf(line) !== undefined)
      return this.#receive(agent, null);
    if (agent === undefined || !this.#isSilent(agent)) return undefined;
    if (line.subtype === 'task_started') return agent.callId === null ? this.#begin(agent, line) : undefined;
    if (line.type === 'control_request') {
      const callId = text(request?.['tool_use_id']);
      if (request?.['subtype'] !== 'can_use_tool' || callId === undefined) return undefined;
      agent.expect(callId);
      return this.#recover(agent, { type: 'call', callId });
    }
    if (line.subtype === 'task_progress') return this.#recover(agent, { type: 'now' });
    const status = endOf(line);
    if (status === undefined) return undefined;
    return this.#recover(agent, { type: 'end', isCompleted: status === 'completed' });
  }

  /** Whether a message was sent to the agent that is in no line yet: the agent's current model request may contain it. */
  isAwaiting(taskId: string): boolean {
    return (this.#agents.get(taskId)?.awaited ?? 0) > 0;
  }

  #beforeAnswer(line: StreamJsonMessage): Promise<void> | undefined {
    const agent = this.#byCall.get(line.parent_tool_use_id ?? '');
    const messageId = text(line.message?.id);
    if (agent === undefined || agent.awaited === 0 || messageId === agent.answeredId) return undefined;
    agent.answeredId = messageId;
    return this.#receive(agent, text(line.uuid) ?? null);
  }

  /** Takes messages that the agent received before the record `uuid`, which the program writes with a delay; null: all messages written so far. */
  async #receive(agent: SilentAgent, uuid: string | null): Promise<void> {
    const { transcriptWaitMs: waitMs, transcriptPollMs: pollMs } = programLimits;
    const until = Date.now() + waitMs;
    let isThere = uuid === null;
    for (let attempts = waitMs / pollMs; ; attempts--) {
      const isLast = this.#isStopped || attempts === 0 || Date.now() >= until;
      await this.#read(agent, (transcribed) => {
        if (uuid === null || transcribed.uuid !== uuid) return agent.toMessage(transcribed);
        isThere = true;
        return 'refuse';
      });
      if (isThere || isLast || agent.isCut) return;
      await this.#pause();
    }
  }

  /** Reads the prompt of an agent of a workflow: the lines of the workflow have only the beginning of it. */
  async #begin(agent: SilentAgent, line: StreamJsonMessage): Promise<void> {
    // The thread of the agent opens with this line. Content that is written by now follows with the next line.
    await this.#recover(agent, { type: 'prompt' });
    line['prompt'] = agent.prompt ?? line['prompt'];
    agent.prompt = undefined;
  }

  /** Reads all that is written of agents that have not ended, because the turn or the program has ended. */
  rest(): Promise<void> | undefined {
    const open = [...this.#agents.values()].filter((agent) => this.#isSilent(agent));
    return open.length === 0 ? undefined : this.#recoverAll(open);
  }

  /** Whether a line or a transcript contained the call. */
  isKnown(callId: string): boolean {
    return this.#calls.has(callId);
  }

  /** Reads the transcripts of agents that may have made this call, which is in no line. */
  look(callId: string): Promise<void> | undefined {
    if (this.isKnown(callId)) return undefined;
    const open = [...this.#agents.values()].filter((agent) => this.#isSilent(agent));
    return open.length === 0 ? undefined : this.#lookAt(open);
  }

  async #lookAt(agents: readonly SilentAgent[]): Promise<void> {
    for (const agent of agents) {
      await this.#readParent(agent);
      if (this.#isMade(agent)) await this.#readPart(agent, 'due');
      this.#report(agent);
    }
  }

  /** Stops waiting for records, because the program has ended. */
  stop(): void {
    this.#isStopped = true;
  }

  #note(line: StreamJsonMessage): void {
    if (line.type === 'system' && line.subtype === 'task_started') return this.#started(line);
    const isMain = line.parent_tool_use_id === null || line.parent_tool_use_id === undefined;
    if (line.type === 'assistant') {
      for (const block of blocksOf(line)) if (block['type'] === 'tool_use') this.#made(String(block['id']), isMain);
    } else if (line.type === 'stream_event') {
      const block = record(record(line['event'])?.['content_block']);
      if (block?.['type'] === 'tool_use') this.#made(String(block['id']), isMain);
      return;
    } else if (line.type !== 'user') return;
    const agent = this.#byCall.get(line.parent_tool_use_id ?? '');
    if (agent !== undefined) agent.hasLines = true;
    const receiver = line.type === 'user' ? this.#find(receiverOf(line)) : undefined;
    if (receiver?.isOpen === true) receiver.awaited++;
  }

  #started(line: StreamJsonMessage): void {
    const taskId = text(line['task_id']);
    const callId = text(line['tool_use_id']) ?? null;
    if (taskId === undefined || line['task_type'] !== 'local_agent') return;
    const known = this.#agents.get(taskId);
    if (known !== undefined) return known.restart();
    const agent = new SilentAgent(taskId, callId, text(line.session_id) ?? '');
    this.#agents.set(taskId, agent);
    if (callId !== null) this.#byCall.set(callId, agent);
    forgetOldest(this.#agents);
    forgetOldest(this.#byCall);
  }

  #made(callId: string, isMain: boolean): void {
    this.#calls.set(callId, isMain);
    forgetOldest(this.#calls);
  }

  #find(taskId: unknown): SilentAgent | undefined {
    return this.#agents.get(text(taskId) ?? '');
  }

  /** Whether the program prints no lines of the agent. Lines of an agent that the main agent started are printed, possibly later. */
  #isSilent({ isOpen, hasLines, callId }: SilentAgent): boolean {
    return isOpen && !hasLines && (callId === null || this.#calls.get(callId) !== true);
  }

  async #recoverAll(agents: readonly SilentAgent[]): Promise<void> {
    for (const agent of agents) {
      await this.#readPart(agent, 'all');
      this.#report(agent);
    }
  }

  /** Reads a transcript until it contains what is wanted. The program writes it with a delay, so it may have to be read several times. */
  async #recover(agent: SilentAgent, wanted: Wanted): Promise<void> {
    const startedAt = Date.now();
    const since = wanted.type === 'end' && !wanted.isCompleted ? this.#beginStop() : startedAt;
    const attempts = wanted.type === 'now' ? 0 : programLimits.transcriptWaitMs / programLimits.transcriptPollMs;
    for (let attempt = 0; ; attempt++) {
      // A search among many files may take longer than the wait between two attempts.
      const isLate = attempt >= attempts || Date.now() - startedAt >= programLimits.transcriptWaitMs;
      const isLast = isLate || this.#isStopped;
      if (wanted.type !== 'now') await this.#readParent(agent);
      const isDue = wanted.type === 'now' ? this.#isMade(agent) : isLast || this.#isParentKnown(agent);
      if (isDue) await this.#readPart(agent, PARTS[wanted.type]);
      if (isLast || isThere(agent, wanted, { since, hasCall: (callId) => this.#calls.has(callId) })) break;
      await this.#pause();
    }
    if (wanted.type === 'end' && wanted.isCompleted && agent.file === undefined) agent.problem('missing');
    if (wanted.type === 'end' && agent.file?.isReadable === false) agent.problem('unreadable');
    // Before the line that starts the agent, no thread exists to report on.
    if (wanted.type !== 'prompt') this.#report(agent);
    if (wanted.type === 'end') agent.end();
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#options.schedule(resolve, programLimits.transcriptPollMs));
  }

  #report(agent: SilentAgent): void {
    for (const problem of agent.takeProblems()) this.#options.onProblem(agent.taskId, problem);
  }

  /** The time at which the wait for stopped agents began. Agents that are stopped together share one wait. */
  #beginStop(): number {
    if (Date.now() - this.#stoppedAt > 2 * programLimits.transcriptStoppedMs) this.#stoppedAt = Date.now();
    return this.#stoppedAt;
  }

  /**
   * Reads the transcripts that may contain the call that started this agent: its parent may be silent too. Agents whose own call is
   * not known yet are skipped, because their lines would open them below the wrong agent.
   */
  async #readParent(agent: SilentAgent): Promise<void> {
    const read = new Set<SilentAgent>();
    while (!this.#isParentKnown(agent)) {
      const other = this.#othersOf(agent).find((each) => !read.has(each) && this.#isMade(each));
      if (other === undefined) return;
      read.add(other);
      await this.#readPart(other, 'due');
    }
  }

  #isParentKnown(agent: SilentAgent): boolean {
    return this.#isMade(agent) || this.#othersOf(agent).length === 0;
  }

  /** Whether the call that started the agent is known. Agents of workflows have no such call. */
  #isMade({ callId }: SilentAgent): boolean {
    return callId === null || this.#calls.has(callId);
  }

  #othersOf(agent: SilentAgent): SilentAgent[] {
    return [...this.#agents.values()].filter((other) => other !== agent && this.#isSilent(other));
  }

  #readPart(agent: SilentAgent, part: Part): Promise<void> {
    return this.#read(agent, (transcribed) => {
      if (part === 'due' && this.#isEarly(agent, transcribed)) return 'refuse';
      if (part === 'prompt' && (agent.hasBegun || transcribed.type === 'assistant')) {
        agent.hasBegun = true;
        return 'refuse';
      }
      return agent.add(transcribed);
    });
  }

  /** Never rejects: a failure is reported as a problem of the transcript, and the thread of the agent continues. */
  async #read(agent: SilentAgent, toLine: ToLine): Promise<void> {
    try {
      agent.file ??= await this.#open(agent);
      const skipped = agent.file?.skipped ?? 0;
      for (let room: Promise<void> | undefined; agent.file !== undefined && !agent.isCut; room = undefined) {
        await agent.file.read((transcribed, bytes) => {
          const line = toLine(transcribed);
          if (line === 'refuse') return 'refuse';
          if (line !== undefined) room = this.#take(line, bytes);
          return room !== undefined || agent.isCut ? 'stop' : 'continue';
        });
        if (room === undefined) break;
        await room;
      }
      if ((agent.file?.skipped ?? 0) > skipped) agent.problem('record_too_large');
      if (agent.isCut) agent.problem('too_large');
    } catch {
      agent.problem('unreadable');
    }
  }

  #take(line: StreamJsonMessage, bytes: number): Promise<void> | undefined {
    for (const block of blocksOf(line)) if (block['type'] === 'tool_use') this.#made(String(block['id']), false);
    return this.#options.take(line, bytes);
  }

  /** Whether the record is the report of an agent that still counts as running. */
  #isEarly({ calls }: SilentAgent, transcribed: StreamJsonMessage): boolean {
    return blocksOf(transcribed).some(({ tool_use_id: id }) => {
      const callId = text(id);
      return callId !== undefined && calls.has(callId) && this.#byCall.get(callId)?.isOpen === true;
    });
  }

  async #open({ taskId, conversation }: SilentAgent): Promise<TranscriptFile | undefined> {
    const { projects, sizes } = this.#options;
    const found = (await findTranscripts(projects, conversation)).find(({ agentId }) => agentId === taskId);
    if (found === undefined) return undefined;
    return new TranscriptFile({ root: projects, path: found.path, offset: sizes.get(taskId) ?? 0 });
  }
}

/** Converts a transcript record to a line, if it has one; `refuse`: reading ends before this record. */
type ToLine = (transcribed: StreamJsonMessage) => StreamJsonMessage | 'refuse' | undefined;

/** The part to read: the prompt, records before the first report of a running agent, or all records. */
type Part = 'prompt' | 'due' | 'all';

const PARTS = { prompt: 'prompt', now: 'due', call: 'all', end: 'all' } as const satisfies Record<Wanted['type'], Part>;

/** The status with which a task line ends its agent; undefined if the agent has not ended. */
function endOf(line: StreamJsonMessage): string | undefined {
  if (line.subtype === 'task_notification') return text(line['status']);
  const status = line.subtype === 'task_updated' ? text(record(line['patch'])?.['status']) : undefined;
  return status === 'completed' || status === 'failed' || status === 'killed' || status === 'stopped'
    ? status
    : undefined;
}

/** The agent that receives a message with its next model request. */
function receiverOf(line: StreamJsonMessage): string | undefined {
  const sent = record(line['tool_use_result']);
  return sent?.['success'] === true && typeof sent['message'] === 'string'
    ? text(record(sent['pin'])?.['id'])
    : undefined;
}

function forgetOldest(map: Map<string, unknown>): void {
  const [oldest] = map.keys();
  if (map.size > programLimits.transcriptFilesMax && oldest !== undefined) map.delete(oldest);
}

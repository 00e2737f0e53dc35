import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { limits } from '../../../base/limits.ts';
import type { Schedule } from '../../../base/schedule.ts';
import { record, text } from '../values.ts';
import { findTranscripts } from './find-transcripts.ts';
import { blocksOf, SilentAgent } from './silent-agent.ts';
import { TranscriptFile } from './transcript-file.ts';
import { isThere, type Wanted } from './wanted.ts';

export interface SilentAgentsOptions {
  /** The directory `projects` of the program's configuration. */
  readonly projects: string;
  readonly schedule: Schedule;
  /** How long the transcripts of earlier processes are, by agent: that much of them is in the log already. */
  readonly sizes: ReadonlyMap<string, number>;
}

/** What transcripts hold that the program has not printed. */
export interface Recovered {
  readonly lines: readonly StreamJsonMessage[];
  /** Agents that have completed and whose transcript did not come within the limit. */
  readonly missing: readonly string[];
}

/**
 * Sub-agents whose lines the program does not print: 2.1.197 prints none of agents of agents. What they said and did is read
 * from their transcripts when they make progress, when they need an approval and when they end.
 */
export class SilentAgents {
  readonly #options: SilentAgentsOptions;
  readonly #agents = new Map<string, SilentAgent>();
  readonly #byCall = new Map<string, SilentAgent>();
  /** Calls that are known, and whether the main agent made them. */
  readonly #calls = new Map<string, boolean>();
  #isStopped = false;
  /** When the last agents were stopped. */
  #stoppedAt = 0;

  constructor(options: SilentAgentsOptions) {
    this.#options = options;
  }

  /** What has to be taken before the line, if anything. */
  before(line: StreamJsonMessage): Promise<Recovered> | undefined {
    this.#note(line);
    if (line.type === 'result') return this.rest();
    const request = record(line['request']);
    const agent = this.#find(line.type === 'control_request' ? request?.['agent_id'] : line['task_id']);
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

  /** The lines of a workflow have only the beginning of the prompt of each agent. */
  async #begin(agent: SilentAgent, line: StreamJsonMessage): Promise<Recovered> {
    const { lines, missing } = await this.#recover(agent, { type: 'prompt' });
    // The agent has a thread from this line on, and what it has done by now follows with the next one.
    agent.held.unshift(...lines);
    line['prompt'] = agent.prompt ?? line['prompt'];
    return { lines: [], missing };
  }

  /** What there is of agents that have not ended: the turn is over, or the program. */
  rest(): Promise<Recovered> | undefined {
    const open = [...this.#agents.values()].filter((agent) => this.#isSilent(agent));
    return open.length === 0 ? undefined : this.#recoverAll(open);
  }

  /** The program has ended: nothing is waited for any more. */
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

  /** The lines of an agent of the main agent are printed, if only later. */
  #isSilent({ isOpen, hasLines, callId }: SilentAgent): boolean {
    return isOpen && !hasLines && (callId === null || this.#calls.get(callId) !== true);
  }

  async #recoverAll(agents: readonly SilentAgent[]): Promise<Recovered> {
    const lines: StreamJsonMessage[] = [];
    for (const agent of agents) lines.push(...(await this.#read(agent, true)));
    return { lines, missing: [] };
  }

  /** The program writes transcripts with a delay, so that one may have to be read several times. */
  async #recover(agent: SilentAgent, wanted: Wanted): Promise<Recovered> {
    const lines: StreamJsonMessage[] = [];
    const since = wanted.type === 'end' && !wanted.isCompleted ? this.#beginStop() : Date.now();
    const attempts = wanted.type === 'now' ? 0 : limits.transcriptWaitMs / limits.transcriptPollMs;
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= attempts || this.#isStopped;
      if (wanted.type !== 'now') await this.#readParent(agent, lines);
      const isDue = wanted.type === 'now' ? this.#isMade(agent) : isLast || this.#isParentKnown(agent);
      if (isDue) lines.push(...(await this.#read(agent, wanted.type !== 'now')));
      if (isLast || isThere(agent, wanted, { since, hasCall: (callId) => this.#calls.has(callId) })) break;
      await new Promise<void>((resolve) => this.#options.schedule(resolve, limits.transcriptPollMs));
    }
    if (wanted.type === 'end') agent.isOpen = false;
    const isMissing = wanted.type === 'end' && wanted.isCompleted && agent.file === undefined;
    return { lines, missing: isMissing ? [agent.taskId] : [] };
  }

  /** Agents that are stopped together are waited for together. */
  #beginStop(): number {
    if (Date.now() - this.#stoppedAt > 2 * limits.transcriptStoppedMs) this.#stoppedAt = Date.now();
    return this.#stoppedAt;
  }

  /** The agent that started this one may be silent too, and then only its transcript has the call that did. */
  async #readParent(agent: SilentAgent, lines: StreamJsonMessage[]): Promise<void> {
    if (this.#isParentKnown(agent)) return;
    for (const other of this.#othersOf(agent)) lines.push(...(await this.#read(other, false)));
  }

  #isParentKnown(agent: SilentAgent): boolean {
    return this.#isMade(agent) || this.#othersOf(agent).length === 0;
  }

  /** Agents of workflows have no call that could be waited for. */
  #isMade({ callId }: SilentAgent): boolean {
    return callId === null || this.#calls.has(callId);
  }

  #othersOf(agent: SilentAgent): SilentAgent[] {
    return [...this.#agents.values()].filter((other) => other !== agent && this.#isSilent(other));
  }

  async #read(agent: SilentAgent, isAll: boolean): Promise<StreamJsonMessage[]> {
    agent.file ??= await this.#open(agent);
    for (const transcribed of (await agent.file?.read()) ?? []) agent.add(transcribed);
    const waiting = isAll ? -1 : agent.held.findIndex((line) => this.#isEarly(line));
    const lines = agent.held.splice(0, waiting === -1 ? agent.held.length : waiting);
    for (const line of lines) {
      for (const block of blocksOf(line)) if (block['type'] === 'tool_use') this.#made(String(block['id']), false);
    }
    return lines;
  }

  /** Whether the line is the report of an agent that has not ended as far as was read. */
  #isEarly(line: StreamJsonMessage): boolean {
    return blocksOf(line).some(({ tool_use_id: callId }) => this.#byCall.get(String(callId))?.isOpen === true);
  }

  async #open({ taskId, conversation }: SilentAgent): Promise<TranscriptFile | undefined> {
    const { projects, sizes } = this.#options;
    const found = (await findTranscripts(projects, conversation)).find(({ agentId }) => agentId === taskId);
    if (found === undefined) return undefined;
    return new TranscriptFile({ root: projects, path: found.path, offset: sizes.get(taskId) ?? 0 });
  }
}

/** How a task line says that its agent has ended; undefined if it does not. */
function endOf(line: StreamJsonMessage): string | undefined {
  if (line.subtype === 'task_notification') return text(line['status']);
  const status = line.subtype === 'task_updated' ? text(record(line['patch'])?.['status']) : undefined;
  return status === 'completed' || status === 'failed' || status === 'killed' || status === 'stopped'
    ? status
    : undefined;
}

function forgetOldest(map: Map<string, unknown>): void {
  const [oldest] = map.keys();
  if (map.size > limits.transcriptFilesMax && oldest !== undefined) map.delete(oldest);
}

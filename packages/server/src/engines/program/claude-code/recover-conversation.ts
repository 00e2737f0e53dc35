import { lstat } from 'node:fs/promises';
import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { programLimits } from '../limits.ts';
import type { EndedConversation, LoggedContent } from '../ended-conversation.ts';
import { MAIN, type ProgramEvent } from '../program.ts';
import { Asks } from './approvals/asks.ts';
import { ProgramTranslator } from './translate/program-translator.ts';
import { ToolServer } from './approvals/tool-server.ts';
import { noUsage } from './translate/usage.ts';
import { text } from '../lines/values.ts';
import { AgentCalls } from './transcript/agent-calls.ts';
import { findMainTranscript } from './transcript/find-main-transcript.ts';
import { findTranscripts } from './transcript/find-transcripts.ts';
import { findMark, isMissing, type LoggedMark } from './transcript/logged-mark.ts';
import { readAgentMeta } from './transcript/read-agent-meta.ts';
import { readFirstRecord } from './transcript/read-first-record.ts';
import { blocksOf, SilentAgent } from './transcript/silent-agent.ts';
import { TranscriptFile } from './transcript/transcript-file.ts';
import { isOfAgent, isPrompt, toTranscriptItem } from './transcript/transcript-items.ts';

/**
 * Recovers content of a conversation's transcripts that is missing in the log, as events: the server was killed before it logged
 * the output of the program, or the program did not print it. Threads with an open turn are continued, and agents that the
 * log does not know yet are opened. The events of an agent come before the report of that agent.
 */
export async function* recoverConversation(
  projects: string,
  ended: EndedConversation,
): AsyncGenerator<readonly ProgramEvent[]> {
  yield* new Recovery(projects, ended).run();
}

interface Source {
  readonly key: string;
  readonly path: string;
  /** The call that made the agent; null for the main agent, and for agents of workflows. */
  readonly callId: string | null;
  readonly agentName: string | null;
  readonly description: string | null;
  /** The depth that the program recorded; 0 if it recorded none. */
  readonly depth: number;
  /** The content in the log; null if the log does not know the agent. */
  readonly logged: LoggedContent | null;
}

class Recovery {
  readonly #projects: string;
  readonly #ended: EndedConversation;
  readonly #translator: ProgramTranslator;
  readonly #sources = new Map<string, Source>();
  readonly #calls = new AgentCalls();
  /** Transcripts of agents that the log does not know and whose call is not recorded, by agent. */
  readonly #unnamed = new Map<string, string>();
  /** When the newest prompt of the main agent was written. */
  #promptedAt = Number.NEGATIVE_INFINITY;
  readonly #begun = new Set<string>();
  readonly #announced = new Set<string>();
  /** Threads whose open model request was ended: recovered content belongs to new requests. */
  readonly #requested = new Set<string>();
  /** Threads whose open model request returned the message that is being read, and has calls in the log. */
  readonly #continued = new Set<string>();
  /** Threads whose model request was continued and has not ended. */
  readonly #cut = new Set<string>();

  constructor(projects: string, ended: EndedConversation) {
    this.#projects = projects;
    this.#ended = ended;
    this.#translator = new ProgramTranslator({
      agent: ended.agent,
      members: ended.members,
      // The program has ended and sends no more requests.
      asks: new Asks(() => {}),
      tools: new ToolServer([], () => {}),
      known: [],
      isResumed: true,
      hearsNested: true,
      onUnknownRequest: () => {},
    });
  }

  async *run(): AsyncGenerator<readonly ProgramEvent[]> {
    await this.#findSources();
    yield* this.#recover(MAIN);
    yield* this.#recoverAll();
    await this.#nameByPrompts();
    yield* this.#recoverAll();
    const orphans = [...this.#sources.values()].filter(({ key }) => !this.#begun.has(key));
    // The call of an agent may be in the transcript of an agent with a smaller depth.
    for (const orphan of orphans.toSorted((one, other) => one.depth - other.depth)) yield* this.#recoverOrphan(orphan);
  }

  async *#recoverAll(): AsyncGenerator<readonly ProgramEvent[]> {
    // Repeats until no agent is added: an agent can be read only after the agent that called it.
    for (let count = -1; count !== this.#begun.size; ) {
      count = this.#begun.size;
      for (const key of this.#sources.keys()) yield* this.#recover(key);
    }
  }

  /**
   * Recovers an agent without a known call: the program was killed after it wrote the agent's files and before it printed or wrote the call.
   * Only the main agent is certainly above it. Files that are older than the last prompt, or do not name agent and conversation, are ignored.
   */
  async *#recoverOrphan({ key, path, callId }: Source): AsyncGenerator<readonly ProgramEvent[]> {
    if (this.#begun.has(key) || !this.#begun.has(MAIN)) return;
    const first = await readFirstRecord(this.#projects, path);
    if (first?.agentId !== key || first.conversation !== this.#ended.conversation) return;
    if (!(first.at >= this.#promptedAt)) return;
    this.#calls.own(callId ?? '', MAIN);
    yield* this.#recoverAll();
  }

  async #findSources(): Promise<void> {
    const { conversation, threads } = this.#ended;
    const main = await findMainTranscript(this.#projects, conversation);
    const found = (await findTranscripts(this.#projects, conversation)).map(({ agentId, path }) => ({
      key: agentId,
      path,
    }));
    for (const [key, { callId, open }] of threads) {
      if (callId !== null) this.#calls.bind(callId, key);
      for (const made of open?.calls ?? []) this.#calls.own(made, key, open?.inputs.get(made));
    }
    for (const { key, path } of main === undefined ? found : [{ key: MAIN, path: main.path }, ...found]) {
      const thread = threads.get(key);
      if (thread === undefined) await this.#addUnknown(key, path);
      else if (thread.open !== null) {
        const { callId, agentName, open: logged } = thread;
        this.#sources.set(key, { key, path, callId, agentName, description: null, depth: 0, logged });
      }
    }
  }

  /** Adds an agent that the log does not know. Each call makes one agent only: files that agents have written must not become threads. */
  async #addUnknown(key: string, path: string): Promise<void> {
    const meta = await readAgentMeta(this.#projects, path);
    if (meta === undefined) return void this.#unnamed.set(key, path);
    const { callId, agentType: agentName, description, depth } = meta;
    if (!this.#calls.bind(callId, key)) return;
    this.#sources.set(key, { key, path, callId, agentName, description, depth, logged: null });
  }

  /** Finds the calls of agents whose call is not recorded, because the program was killed before: the call with the agent's prompt made it. */
  async #nameByPrompts(): Promise<void> {
    for (const [key, path] of this.#unnamed) {
      const first = await readFirstRecord(this.#projects, path);
      const call = first?.prompt === undefined ? undefined : this.#calls.findByPrompt(first.prompt);
      if (call === undefined || !this.#calls.bind(call.callId, key)) continue;
      this.#sources.set(key, { key, path, ...call, depth: 0, logged: null });
    }
  }

  async *#recover(key: string): AsyncGenerator<readonly ProgramEvent[]> {
    const source = this.#sources.get(key);
    if (source === undefined || this.#begun.has(key)) return;
    if (source.logged === null && this.#calls.ownerOf(source.callId) === undefined) return;
    this.#begun.add(key);
    const { size = 0 } = (await lstat(source.path).catch(() => undefined)) ?? {};
    // Reads the end of a large transcript: that part is missing in the log.
    const offset = Math.max(0, size - programLimits.transcriptBytesMax);
    const open = () => new TranscriptFile({ root: this.#projects, path: source.path, offset });
    yield* this.#emitMissing(source, open(), await findMark(open(), source));
  }

  async *#emitMissing(source: Source, file: TranscriptFile, mark: LoggedMark) {
    const agent = new SilentAgent(source.key, source.callId, this.#ended.conversation);
    agent.file = file;
    for (const callId of source.logged?.calls ?? []) agent.expect(callId);
    let [records, isFinished] = [0, false];
    for (let isMore = true; isMore; ) {
      isMore = false;
      let reporter: string | undefined;
      const events: ProgramEvent[] = [];
      await file.read((transcribed) => {
        reporter = this.#findReporter(source, transcribed);
        if (reporter !== undefined) return 'refuse';
        records++;
        if (isPrompt(transcribed)) {
          isFinished = false;
          if (source.key === MAIN) this.#promptedAt = toTime(transcribed) ?? this.#promptedAt;
        }
        const line = agent.add(transcribed);
        if (line !== undefined && isOfAgent(transcribed, source.key === MAIN)) {
          isFinished = agent.isFinished;
          const isContinued = mark.callingId !== undefined && text(line.message?.['id']) === mark.callingId;
          if (isContinued) this.#continued.add(source.key);
          else this.#continued.delete(source.key);
          events.push(...this.#takeMissing(source, line, records > mark.records, agent.prompt));
        }
        isMore = events.length >= BATCH_EVENTS;
        return agent.isCut || isMore ? 'stop' : 'continue';
      });
      if (events.length > 0) yield events;
      if (reporter === undefined) continue;
      yield* this.#recover(reporter);
      isMore = true;
    }
    if (file.skipped > 0) agent.problem('record_too_large');
    if (agent.isCut) agent.problem('too_large');
    const begun = source.logged === null ? this.#announce(source, agent.prompt) : [];
    const problems = agent.takeProblems().flatMap((problem) => this.#translator.missTranscript(source.key, problem));
    yield [...begun, ...problems, ...(isFinished && source.key !== MAIN ? this.#end(source, agent.prompt) : [])];
  }

  /** The agent whose report is in the record, if its transcript was not read yet. */
  #findReporter({ key }: Source, transcribed: StreamJsonMessage): string | undefined {
    this.#calls.ownAll(transcribed, key);
    for (const block of blocksOf(transcribed)) {
      const item = toTranscriptItem(block);
      const made = item?.type === 'result' ? this.#calls.agentOf(item.callId) : undefined;
      if (made !== undefined && made !== key && this.#sources.has(made) && !this.#begun.has(made)) return made;
    }
    return undefined;
  }

  #takeMissing(
    source: Source,
    line: StreamJsonMessage,
    isBehindLog: boolean,
    prompt: string | undefined,
  ): ProgramEvent[] {
    const content = blocksOf(line).filter((block) => {
      const item = toTranscriptItem(block);
      return item !== undefined && isMissing(item, source.logged, isBehindLog);
    });
    if (content.length === 0) return [];
    const missing = { ...line, message: { ...line.message, content: content as never } };
    return [...this.#announce(source, prompt), ...this.#filter(source, this.#translator.take(missing))];
  }

  #end(source: Source, prompt: string | undefined): ProgramEvent[] {
    const line = { type: 'system', subtype: 'task_updated', task_id: source.key, patch: { status: 'completed' } };
    return [...this.#announce(source, prompt), ...this.#filter(source, this.#translator.take(line))];
  }

  /** Takes the line that starts an agent: the translator must know an agent before it takes its lines. */
  #announce({ key, callId, agentName, description, logged }: Source, prompt: string | undefined): ProgramEvent[] {
    if (key === MAIN || this.#announced.has(key)) return [];
    this.#announced.add(key);
    const parent = this.#ended.threads.get(key)?.parentKey ?? this.#calls.ownerOf(callId) ?? MAIN;
    const known = this.#ended.threads.get(parent);
    if (parent !== MAIN && known !== undefined) this.#announce(toParent(parent, known), undefined);
    const events = this.#translator.take({
      type: 'system',
      subtype: 'task_started',
      task_id: key,
      task_type: 'local_agent',
      session_id: this.#ended.conversation,
      ...(callId === null ? {} : { tool_use_id: callId }),
      ...(parent === MAIN ? {} : { parent_task_id: parent }),
      ...(agentName === null ? {} : { subagent_type: agentName }),
      ...(description === null ? {} : { description }),
      ...(prompt === undefined ? {} : { prompt }),
    });
    if (logged !== null) return [];
    // Opens the thread here: the translator would wait for a call that is only in the log.
    return [...events, ...this.#translator.openThread(key)].filter((event) => this.#isNew(event));
  }

  #filter({ key, logged }: Source, events: readonly ProgramEvent[]): ProgramEvent[] {
    return events
      .filter((event) => this.#isNew(event))
      .flatMap((event): ProgramEvent[] => {
        // Blocks of this request may be in the log under other ids, as deltas: the error voids them.
        if (event.type === 'request_ended' && this.#cut.delete(key)) return [{ ...event, isError: true }];
        // A call that has a result was answered, if it needed an answer.
        if (event.type === 'result') return [{ type: 'answered', key: event.key, callId: event.callId }, event];
        if (event.type !== 'request_started' || logged?.hasRequest !== true || this.#requested.has(key)) return [event];
        this.#requested.add(key);
        // No request begins while calls of the previous response are open, so the rest of that response belongs to its own request.
        if (this.#continued.has(key)) {
          this.#cut.add(key);
          return [];
        }
        // Without calls, the open request is ended first, which voids its deltas: the fleet stream has recovered content in the order of the log.
        const cut = {
          type: 'request_ended',
          model: event.model,
          usage: noUsage,
          stopReason: null,
          isError: true,
        } as const;
        return [{ key, ...cut }, event];
      });
  }

  /** Whether the event is new: threads that the log knows are open there, and no turn begins any more. */
  #isNew(event: ProgramEvent): boolean {
    if (event.type === 'thread_opened') return !this.#ended.threads.has(event.key);
    return event.type !== 'turn_expected' && event.type !== 'turn_ended';
  }
}

/** When a record was written, in ms since 1970. Undefined if the record has no valid timestamp. */
function toTime({ timestamp }: StreamJsonMessage): number | undefined {
  const at = Date.parse(text(timestamp) ?? '');
  return Number.isNaN(at) ? undefined : at;
}

/** Events after which a batch is passed to the log. */
const BATCH_EVENTS = 64;

function toParent(key: string, thread: { readonly callId: string | null; readonly agentName: string }): Source {
  return {
    key,
    path: '',
    callId: thread.callId,
    agentName: thread.agentName,
    description: null,
    depth: 0,
    logged: EMPTY,
  };
}

const EMPTY: LoggedContent = {
  hasRequest: false,
  said: new Map(),
  calls: new Set(),
  inputs: new Map(),
  results: new Set(),
  waiting: new Set(),
};

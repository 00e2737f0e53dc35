import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { type AgentEvent, type StreamJsonMessage, Translator } from '@fleetloom/protocol/stream-json';
import { MAIN, type ProgramEvent, type ProgramOptions } from '../../program.ts';
import { Answers, type TapState } from './answers.ts';
import type { Asks } from '../approvals/asks.ts';
import { PendingWork } from './pending-work.ts';
import type { GatewayEvent } from '../../gateway/events.ts';
import { DoneCalls } from './done-calls.ts';
import { FailedServers } from './failed-servers.ts';
import { placeOf } from './open-answer.ts';
import { SubagentRetries, toRetry } from './subagent-retries.ts';
import { isSaying, threadOf } from './thread-of.ts';
import { Threads } from './threads.ts';
import { calledBy } from '../lines/called-by.ts';
import { toResultBlocks } from '../lines/to-content.ts';
import { toAskKind } from '../approvals/to-ask-kind.ts';
import { type CallTool, QUESTION_TOOL } from '../approvals/tool-policy.ts';
import { toEditedFile } from './to-edited-file.ts';
import type { ToolServer } from '../approvals/tool-server.ts';
import { toTranscriptMessage } from './to-transcript-message.ts';
import { toTurnOutcome } from './to-turn-outcome.ts';
import type { TranscriptProblem } from '../transcript/silent-agent.ts';
import { Turns } from './turns.ts';
import { noUsage, toTurnUsage } from './usage.ts';
import { number, record, text, toJson } from '../../lines/values.ts';

/** Options of translating the lines of a program. */
export interface ProgramTranslatorOptions {
  readonly agent: AgentSnapshot;
  readonly members: readonly AgentSnapshot[];
  readonly asks: Asks;
  readonly tools: ToolServer;
  /** Sub-agents of earlier processes. */
  readonly known: ProgramOptions['known'];
  /** The program continues an earlier conversation. */
  readonly isResumed: boolean;
  /** The program prints lines of sub-agents of sub-agents too. */
  readonly hearsNested: boolean;
  /** Whether a message to a sub-agent may be due before its next response. */
  readonly isAwaiting?: ((key: string) => boolean) | undefined;
  /** Returns why the program cannot reach one of its MCP servers; null if the reason is unknown. */
  readonly whyUnreachable?: ((serverName: string) => string | null) | undefined;
  /** Called for a request of the program with an unknown type. */
  readonly onUnknownRequest: (requestId: string) => void;
}

/**
 * Turns lines of the program into events. The protocol's translator finds the agent and the new content of each line; this class
 * makes them threads, model requests, complete blocks, and calls with the permission of the agent's definition.
 */
export class ProgramTranslator {
  readonly #options: ProgramTranslatorOptions;
  readonly #translator = new Translator();
  readonly #threads: Threads;
  readonly #turns = new Turns();
  readonly #answers: Answers;
  readonly #retries = new SubagentRetries();
  readonly #work = new PendingWork();
  /** The thread of each call without a result, by call id. */
  readonly #calls = new Map<string, string>();
  readonly #questions = new Set<string>();
  readonly #done = new DoneCalls();
  readonly #failedServers: FailedServers;
  #conversation: string | undefined;
  /** The permission mode that the program reported last. */
  #permissionMode: string | undefined;
  /** The program's code of the last error in the turn. */
  #error: string | undefined;
  /** Why a hook of the project stopped the turn. */
  #refusal: string | undefined;
  /** The id of the last line of the main agent in the transcript. */
  #lastMessage: string | undefined;
  /** Why the newest model request of an agent failed, by its key: the program prints it as a text of the agent. */
  readonly #failures = new Map<string, string>();
  #out: ProgramEvent[] = [];

  constructor(options: ProgramTranslatorOptions) {
    this.#options = options;
    this.#threads = new Threads(options.agent, options.members);
    this.#answers = new Answers({ isResumed: options.isResumed });
    this.#failedServers = new FailedServers(options.whyUnreachable);
  }

  /** Whether the program is about to begin a turn on its own. */
  get isExpecting(): boolean {
    return this.#turns.isExpecting;
  }

  /** Stops expecting a turn that does not begin. */
  giveUp(): ProgramEvent[] {
    if (!this.#turns.giveUp()) return [];
    return [{ type: 'turn_ended', key: MAIN, outcome: { type: 'done' }, isMoreToCome: false }];
  }

  /** The task id by which the program knows a sub-agent. */
  taskOf(key: string): string {
    return this.#threads.taskOf(key);
  }

  /** Whether no agent is running. */
  get isResting(): boolean {
    return this.#turns.areResting && this.#threads.areResting;
  }

  /** Whether the call is a question to people. */
  isQuestion(callId: string): boolean {
    return this.#questions.has(callId);
  }

  /** The events of a decision or result that was written to the program. */
  answered(callId: string): ProgramEvent[] {
    const thread = this.#calls.get(callId);
    return thread === undefined ? [] : [{ type: 'answered', key: this.#key(thread), callId }];
  }

  said(): void {
    this.#turns.said();
  }

  take(line: StreamJsonMessage): ProgramEvent[] {
    const events = this.#translator.translate(this.#named(line));
    const thread = threadOf(line, events);
    // The agent of the line must be known first.
    for (const event of events) this.#learn(event);
    if (thread !== undefined && isSaying(line)) {
      this.#emit(...this.#threads.open(thread));
      // A line whose call is known from its permission request adds nothing to the response.
      if (!events.some((event) => event.type === 'tool_use' && this.#calls.has(event.toolUseId))) {
        this.#emit(...this.#answers.before(this.#key(thread), line));
      }
    }
    for (const event of events) this.#event(event, line);
    this.#emit(...this.#threads.openAdopted());
    if (thread === MAIN && line.type === 'assistant') this.#lastMessage = text(line['uuid']) ?? this.#lastMessage;
    if (thread !== undefined) this.#finish(line, thread);
    this.#emit(...this.#work.take(line));
    return this.#takeOut();
  }

  #learn(event: AgentEvent): void {
    if (event.type !== 'thread_start' && event.type !== 'thread_update') return;
    if (event.type === 'thread_start' || event.sameAs === undefined) return this.#threads.learn(event);
    const gone = this.#threads.merge(event.thread, event.sameAs);
    if (gone === undefined) return;
    this.#emit(...this.#answers.close(gone, false));
    this.#emit({ type: 'thread_ended', key: gone, status: 'stopped', error: null });
  }

  /**
   * Adds the agent id to a line. A sub-agent of an earlier process keeps the call that started it, and older programs print nothing else on
   * its lines: without the known agents of earlier processes it would count as a new agent.
   */
  #named(line: StreamJsonMessage): StreamJsonMessage {
    const callId = line['parent_tool_use_id'];
    if (typeof callId !== 'string' || line['agent_id'] !== undefined) return line;
    const known = this.#options.known.find((each) => each.callId === callId);
    return known === undefined ? line : { ...line, agent_id: known.key };
  }

  /** Takes an event of the gateway. Only events of sub-agents are used: the lines contain everything of the main agent. */
  takeTapped(event: GatewayEvent, isFull: boolean): ProgramEvent[] {
    const { agentId: key, parentAgentId } = event;
    const retry = key === null ? null : this.#retries.takeTapped(event);
    // No event of an agent can be emitted before its thread is open.
    if (key !== null && retry !== null && this.#threads.isRunning(key)) this.#emit({ key, ...retry });
    // If sub-agents of sub-agents have no lines, their blocks could not be settled.
    if (key === null || (parentAgentId !== null && !this.#options.hearsNested)) return this.#takeOut();
    this.#emit(...this.#answers.tap(key, event, this.#tapState(key, isFull)));
    return this.#takeOut();
  }

  /** Opens the thread of an announced agent, below the main agent if the call that started it is in no line. No events if it is open. */
  openThread(taskId: string): ProgramEvent[] {
    return this.#threads.openTask(taskId);
  }

  /** The event for a transcript that could not be read completely: the log lacks content that the program did not print. */
  missTranscript(taskId: string, problem: TranscriptProblem): ProgramEvent[] {
    return [{ type: 'transcript_missing', key: taskId, message: toTranscriptMessage(taskId, problem) }];
  }

  #takeOut(): ProgramEvent[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  #finish(line: StreamJsonMessage, thread: string): void {
    const key = this.#key(thread);
    this.#emit(...this.#answers.after(key, line), ...this.#answers.release(key, this.#tapState(key, false)));
  }

  #tapState(key: string, isFull: boolean): TapState {
    const isCalling = () => [...this.#calls.values()].some((thread) => this.#key(thread) === key);
    // If a message is awaited, only the lines of the response show when it is due.
    const isRunning = this.#threads.isRunning(key) && this.#options.isAwaiting?.(key) !== true;
    return { isRunning, isCalling, isFull };
  }

  #event(event: AgentEvent, line: StreamJsonMessage): void {
    const { thread } = event;
    const key = this.#key(thread);
    switch (event.type) {
      case 'session_meta':
        this.#permissionMode = text(line['permissionMode']) ?? this.#permissionMode;
        this.#turnStarted(event);
        return this.#emit(...this.#failedServers.take(line['mcp_servers']));
      case 'turn_complete':
        return this.#turnEnded(event, line);
      case 'run_start':
        if (event.late !== true) this.#emit(...this.#threads.start(thread, event.run, text(line['prompt']) ?? null));
        return;
      case 'thread_status':
        if (event.late === true || event.status === 'running') return;
        this.#threadEnded(thread, event.status, event.error);
        // The report of an agent of a workflow goes to the workflow.
        return line['is_workflow_agent'] === true ? undefined : this.#expectTurn(thread);
      case 'text_delta':
      case 'thinking_delta': {
        const error = event.type === 'text_delta' ? event.error : undefined;
        this.#error = error ?? this.#error;
        // The text is not from the model: it is the error with which the turn or the sub-agent ends.
        if (error !== undefined) {
          this.#failures.set(key, event.content);
          // The program does not retry this request again: its next one is not a retry.
          return this.#retries.ended(key);
        }
        this.#continue(key);
        const kind = event.type === 'text_delta' ? 'text' : 'thinking';
        const { content } = event;
        if (line.type === 'assistant') return this.#emit(...this.#answers.whole(key, placeOf(event), kind, content));
        return this.#emit(...(this.#answers.openOf(key)?.add(placeOf(event).name, kind, content, true) ?? []));
      }
      case 'replace':
        if (event.content !== undefined) this.#answers.openOf(key)?.replace(placeOf(event).name, event.content);
        return;
      case 'retract':
        return this.#answers.openOf(key)?.retract(placeOf(event).name);
      case 'tool_use':
        return this.#call(thread, event.toolUseId, event.toolName, event.input);
      case 'tool_result':
        return this.#result(thread, event, line['tool_use_result']);
      case 'permission_request':
        return this.#ask(thread, event);
      case 'permission_withdrawn': {
        const callId = this.#options.asks.withdraw(event.requestId);
        if (callId !== undefined) this.#emit({ type: 'ask_withdrawn', key, callId });
        return;
      }
      case 'prompt':
        if (event.role === 'replay') this.#turns.taken();
        if (line['is_thread_message'] === true) this.#emit({ type: 'thread_message', key, text: event.content });
        return;
      case 'raw':
        return this.#raw(thread, event);
      default:
        // Input deltas, reports and progress: their content arrives complete in another event.
        return;
    }
  }

  #turnStarted({ sessionId, version }: Extract<AgentEvent, { type: 'session_meta' }>): void {
    this.#turns.start();
    if (sessionId !== undefined && sessionId !== this.#conversation) {
      this.#conversation = sessionId;
      this.#emit({ type: 'opened', key: MAIN, conversation: sessionId, version: version ?? null });
    }
    this.#emit({ type: 'turn_started', key: MAIN });
  }

  #turnEnded(event: Extract<AgentEvent, { type: 'turn_complete' }>, line: StreamJsonMessage): void {
    const refusal = line['num_turns'] === 0 ? this.#refusal : undefined;
    const outcome = toTurnOutcome(event, this.#error, refusal);
    [this.#error, this.#refusal] = [undefined, undefined];
    if (outcome.type === 'done') this.#continue(MAIN);
    this.#failures.delete(MAIN);
    this.#emit(...this.#answers.endTurn(MAIN, toTurnUsage(event.usage), outcome.type !== 'done'));
    const isMoreToCome = this.#turns.end({
      isOwn: event.origin !== undefined,
      outcome: outcome.type,
      queuedTurns: number(line['queued_turn_count']) ?? 0,
      isLocal: line['num_turns'] === 0,
    });
    const message = this.#lastMessage;
    this.#emit({ type: 'turn_ended', key: MAIN, outcome, isMoreToCome, ...(message === undefined ? {} : { message }) });
  }

  #threadEnded(thread: string, reported: 'completed' | 'failed' | 'stopped', reason: string | undefined): void {
    const key = this.#key(thread);
    const failure = this.#failures.get(key);
    this.#failures.delete(key);
    // Older programs report a sub-agent as completed although its last model request failed.
    const status = reported === 'completed' && failure !== undefined ? 'failed' : reported;
    const error = reason ?? failure;
    this.#emit(...this.#threads.open(thread), ...this.#answers.close(key, status !== 'completed'));
    this.#threads.end(thread);
    this.#retries.ended(key);
    this.#emit({ type: 'thread_ended', key, status, error: error ?? null });
  }

  /** Expects a turn: the program begins one after an agent in the background has ended. */
  #expectTurn(thread: string): void {
    // The call that waits for an agent in the foreground is still open.
    const isInForeground = this.#calls.has(this.#threads.callOf(thread) ?? '');
    if (!isInForeground && this.#turns.report()) this.#emit({ type: 'turn_expected', key: MAIN });
  }

  /** Reports the failed model request of an agent that continues, so the failure is not the error that ends it. */
  #continue(key: string): void {
    const message = this.#failures.get(key);
    this.#failures.delete(key);
    if (message !== undefined) this.#out.push({ type: 'request_failed', key, message });
  }

  #call(thread: string, callId: string, name: string, input: unknown): void {
    const key = this.#key(thread);
    const settled = this.#answers.openOf(key)?.settleCall(callId) ?? [];
    if (this.#calls.has(callId)) return this.#emit(...settled);
    this.#calls.set(callId, thread);
    if (name === QUESTION_TOOL) this.#questions.add(callId);
    const tool = this.#toolOf(thread, name);
    const shown = tool.kind === 'denied' ? ({ kind: 'builtin', permission: 'deny' } as const) : tool;
    this.#emit({ type: 'call', key, callId, name, input: toJson(input), tool: shown }, ...settled);
    if (this.#options.tools.isWaiting(callId)) this.#emit(...this.#answers.endUnannounced(key));
  }

  #result(thread: string, event: Extract<AgentEvent, { type: 'tool_result' }>, structured: unknown): void {
    const { toolUseId: callId, content, isError } = event;
    const key = this.#key(thread);
    this.#calls.delete(callId);
    this.#questions.delete(callId);
    this.#done.add(key, callId);
    this.#options.asks.forget(callId);
    this.#options.tools.forget(callId);
    this.#emit(...this.#answers.endUnannounced(key));
    const file = isError ? undefined : toEditedFile(structured);
    this.#emit({ type: 'result', key, callId, content: toResultBlocks(content), isError, ...(file && { file }) });
  }

  /** Takes a permission request. It may come before the line of its call, and for sub-agents of sub-agents that line may never come. */
  #ask(thread: string, request: Extract<AgentEvent, { type: 'permission_request' }>): void {
    const { toolUseId: callId = request.requestId, toolName, input } = request;
    const key = this.#key(thread);
    if (this.#done.has(key, callId)) return;
    this.#emit(...this.#threads.open(thread), ...this.#answers.release(key, this.#tapState(key, false)));
    if (!this.#calls.has(callId) && this.#answers.openOf(key) === undefined) {
      const unknown = { messageId: request.requestId, model: 'unknown', source: 'lines', usage: noUsage } as const;
      this.#emit(...this.#answers.begin(key, unknown));
    }
    this.#call(thread, callId, toolName, input);
    this.#emit(...this.#answers.endUnannounced(key));
    const isPlanning = this.#permissionMode === 'plan';
    if (!this.#options.asks.take(request, callId, this.#toolOf(thread, toolName), { isPlanning })) return;
    const reason = text(record(request.request)?.['decision_reason']) ?? null;
    // The call may be recorded under another name of the same agent.
    const owner = this.#key(this.#calls.get(callId) ?? thread);
    this.#emit({ type: 'ask', key: owner, callId, kind: toAskKind(toolName), reason, input: toJson(input) });
  }

  #raw(thread: string, event: Extract<AgentEvent, { type: 'raw' }>): void {
    const { kind, value } = event;
    const key = this.#key(thread);
    const line = record(value) ?? {};
    if (kind.startsWith('block/')) {
      const content = { type: 'opaque', raw: line as never } as const;
      return this.#emit(...(this.#answers.openOf(key)?.settleOpaque(placeOf(event), content) ?? []));
    }
    if (kind === 'control_request/mcp_message') return this.#serve(line as StreamJsonMessage);
    if (kind.startsWith('control_request')) return this.#options.onUnknownRequest(String(line['request_id']));
    if (kind === 'system/status') this.#permissionMode = text(line['permissionMode']) ?? this.#permissionMode;
    if (kind === 'system/informational' && line['prevent_continuation'] === true) this.#refusal = text(line['content']);
    if (kind === 'system/compact_boundary') return this.#emit({ type: 'compacted', key });
    if (kind === 'system/session_state_changed' && line['state'] === 'idle') return this.#emit(...this.giveUp());
    if (kind === 'system/api_retry') return this.#emit({ key, ...toRetry(line) });
    const reported = kind === 'tool_progress' ? this.#retries.takeLine(line) : null;
    if (reported !== null) this.#emit({ key: reported.key, ...reported.retry });
  }

  /** Takes the request of a custom tool call. The call waits for its result, so the response that made it has ended. */
  #serve(line: StreamJsonMessage): void {
    this.#options.tools.take(line);
    const thread = this.#calls.get(calledBy(line) ?? '');
    if (thread !== undefined) this.#emit(...this.#answers.endUnannounced(this.#key(thread)));
  }

  #toolOf(thread: string, name: string): CallTool {
    return this.#threads.policyOf(thread).toolOf(name);
  }

  #key(thread: string): string {
    return this.#threads.keyOf(thread);
  }

  #emit(...events: ProgramEvent[]): void {
    for (const event of events) {
      if (event.type === 'request_started') this.#continue(event.key);
      this.#out.push(event);
    }
  }
}

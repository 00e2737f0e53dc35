import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { programLimits } from '../../limits.ts';
import { RecentMap } from '../../../../base/collections/recent-map.ts';
import { toPlan } from '../../lines/to-plan.ts';
import { nameIn, number, record, text } from '../../lines/values.ts';
import { type Decision, MAIN, type ProgramEvent } from '../../program.ts';
import { type Ask, Asks } from '../approvals/asks.ts';
import type { ClientResult } from '../../mcp/mcp-tools.ts';
import { type PermissionMode, toCallPolicy } from '../approvals/call-policy.ts';
import { readAsk } from './read-ask.ts';
import type { Fields, RequestId, RpcLine } from '../../lines/json-rpc-line.ts';
import { CallIds } from './call-ids.ts';
import { HeldLines } from './held-lines.ts';
import { PendingSays } from './pending-says.ts';
import { SubAgents, type SubAgentsOptions, type ThreadFacts } from './sub-agents.ts';
import { ThreadFold } from './thread-fold.ts';
import { readError, toOutcome } from './to-outcome.ts';

/** The input of the translator of one session, and callbacks that write to the program. */
export interface CodexTranslatorOptions extends Pick<SubAgentsOptions, 'agent' | 'members' | 'known' | 'readThread'> {
  /** Answers a request of the program. */
  readonly answer: (id: RequestId, result: object) => void;
  /** Rejects a request of the program. */
  readonly reject: (id: RequestId, message: string) => void;
  /** Sends a message to a thread in the middle of its turn. */
  readonly steer: (threadId: string, turnId: string, message: string) => void;
}

/** The main thread, once the program has started, resumed or forked it. */
export interface MainThread {
  readonly threadId: string;
  readonly model: string;
  readonly version: string | null;
}

/**
 * Translates lines of `codex app-server` to events, for one session: the thread of the main agent, and the threads of its sub-agents, which
 * are on the same connection. It uses no clock and no process; responses to the program go through the options.
 */
export class CodexTranslator {
  readonly #options: CodexTranslatorOptions;
  readonly #callIds = new CallIds();
  readonly #threads = new Map<string, ThreadFold>();
  readonly #held = new HeldLines(programLimits.codexHeldLinesMax);
  readonly #says = new PendingSays();
  /** Thread ids of conversations of other clients of the process. */
  readonly #foreign = new RecentMap<true>({ entriesMax: programLimits.programKeptNamesMax });
  readonly #failedServers = new RecentMap<true>({ entriesMax: programLimits.programKeptNamesMax });
  readonly #asks: Asks;
  /** Asks for calls that no item describes, by call id. */
  readonly #madeUp = new Map<string, Ask>();
  readonly #subAgents: SubAgents;
  #main: string | undefined;
  #mode: PermissionMode = 'default';
  #events: ProgramEvent[] = [];

  constructor(options: CodexTranslatorOptions) {
    this.#options = options;
    this.#asks = new Asks({
      write: options.answer,
      onAnswered: (callId) => this.#emit({ key: this.#keyOf(callId), type: 'answered', callId }),
      onDenied: ({ threadId, turnId }, reason) => options.steer(threadId, turnId, reason),
    });
    this.#subAgents = new SubAgents({
      ...options,
      keyOf: (threadId) => this.#threads.get(threadId)?.key,
      mainModel: () => this.#mainFold?.model ?? '',
      open: (thread) => this.#add({ ...thread, key: thread.threadId }),
      emit: (event) => this.#emit(event),
    });
  }

  /** Opens the main thread: from now on its lines, and lines held for it, become events. */
  open({ threadId, model, version }: MainThread): readonly ProgramEvent[] {
    this.#main = threadId;
    this.#foreign.delete(threadId);
    this.#emit({ key: MAIN, type: 'opened', conversation: threadId, version });
    this.#add({ threadId, key: MAIN, model, agent: this.#options.agent });
    return this.#drain();
  }

  take(line: RpcLine): readonly ProgramEvent[] {
    this.#take(line);
    return this.#drain();
  }

  /** Takes the response to `readThread`; null if the program does not know the thread. */
  describeThread(threadId: string, facts: ThreadFacts | null): readonly ProgramEvent[] {
    this.#subAgents.describe(threadId, facts);
    return this.#drain();
  }

  /** Records a message to the main agent. The returned functions record the turn that it joined, or its rejection. */
  say(): { readonly joined: (turnId: string) => void; readonly refused: (reason: string) => readonly ProgramEvent[] } {
    const said = this.#says.add();
    return {
      joined: (turnId) => this.#says.join(said, turnId),
      refused: (reason) => {
        this.#says.remove(said);
        if (this.#mainFold?.turnId === null && this.#says.isEmpty) this.#emitFailedTurn(reason);
        return this.#drain();
      },
    };
  }

  /** Takes a decision about a call, or the result of a call that a client runs. */
  give(callId: string, answer: Decision | ClientResult): readonly ProgramEvent[] {
    this.#foldOf(callId)?.go(callId);
    this.#asks.give(callId, answer);
    return this.#drain();
  }

  setMode(mode: PermissionMode): void {
    this.#mode = mode;
  }

  /** The ids of the thread and the item of a call; undefined for an unknown call. */
  locate(callId: string): { readonly threadId: string; readonly itemId: string } | undefined {
    return this.#callIds.find(callId);
  }

  /** Records that the result of a call was sent through the MCP server with the custom tools. */
  serve(callId: string): readonly ProgramEvent[] {
    this.#foldOf(callId)?.go(callId);
    this.#emit({ key: this.#keyOf(callId), type: 'answered', callId });
    return this.#drain();
  }

  /** Whether the result of the call is sent through the MCP server with the custom tools. */
  isServed(callId: string): boolean {
    const itemId = this.#callIds.find(callId)?.itemId ?? '';
    return this.#foldOf(callId)?.callOf(itemId)?.item['type'] === 'mcpToolCall';
  }

  /** Whether a message to the main agent is pending: its turn has not begun or has not ended. */
  get isExpecting(): boolean {
    return !this.#says.isEmpty;
  }

  /** The running turn of an agent. */
  turnOf(key: string): { readonly threadId: string; readonly turnId: string } | undefined {
    const threadId = key === MAIN ? this.#main : key;
    const turnId = this.#threads.get(threadId ?? '')?.turnId ?? null;
    return threadId === undefined || turnId === null ? undefined : { threadId, turnId };
  }

  get #mainFold(): ThreadFold | undefined {
    return this.#threads.get(this.#main ?? '');
  }

  #take(line: RpcLine): void {
    if (line.type === 'response') return;
    const { method, params } = line;
    if (method === 'thread/started') return this.#noteThread(params);
    const threadId = nameIn(params['threadId']);
    if (threadId === undefined || this.#foreign.has(threadId)) return this.#takeStray(line);
    const fold = this.#threads.get(threadId);
    if (fold === undefined) {
      this.#held.add(threadId, line);
      if (method === 'turn/started' && this.#main !== undefined) this.#subAgents.resume(threadId);
    } else if (line.type === 'request') this.#ask(fold, line);
    else this.#notice(fold, method, params);
    fold?.rest();
  }

  /** Rejects a request that belongs to no thread of the session, because the program waits for a response. */
  #takeStray(line: RpcLine): void {
    if (line.type === 'request') this.#options.reject(line.id, 'This client cannot answer that.');
  }

  /** Notes conversations of other clients. Sub-agents are not announced by `thread/started`. */
  #noteThread(params: Fields): void {
    const thread = record(params['thread']);
    const [id, parent] = [nameIn(thread?.['id']), text(thread?.['parentThreadId'])];
    if (id === undefined || parent !== undefined || id === this.#main || this.#threads.has(id)) return;
    // Before `open` the thread may be the main thread.
    if (this.#main !== undefined) this.#foreign.set(id, true);
  }

  #notice(fold: ThreadFold, method: string, params: Fields): void {
    const turnId = nameIn(params['turnId']);
    switch (method) {
      case 'turn/started':
        return this.#startTurn(fold, nameIn(record(params['turn'])?.['id']) ?? '');
      case 'turn/completed':
        return this.#endTurn(fold, record(params['turn']) ?? {});
      case 'item/started':
        return this.#takeItem(fold, record(params['item']) ?? {}, turnId, false);
      case 'item/completed':
        return this.#takeItem(fold, record(params['item']) ?? {}, turnId, true);
      case 'item/agentMessage/delta':
        return fold.grow(itemOf(params), 'text', text(params['delta']) ?? '', 0);
      case 'item/reasoning/summaryTextDelta':
        return fold.grow(itemOf(params), 'summary', text(params['delta']) ?? '', number(params['summaryIndex']) ?? 0);
      case 'item/reasoning/textDelta':
        return fold.grow(itemOf(params), 'content', text(params['delta']) ?? '', number(params['contentIndex']) ?? 0);
      case 'item/commandExecution/outputDelta':
        return fold.show(itemOf(params), text(params['delta']) ?? '');
      case 'turn/plan/updated':
        return this.#emit({ key: fold.key, type: 'plan', items: toPlan(params['plan'], 'step') });
      case 'thread/tokenUsage/updated':
        return fold.count(params['tokenUsage'], turnId);
      case 'thread/settings/updated':
        return setModel(fold, record(params['threadSettings'])?.['model']);
      case 'model/rerouted':
        return setModel(fold, params['toModel']);
      case 'error':
        return this.#takeError(fold, params);
      case 'serverRequest/resolved':
        return this.#resolve(params['requestId'] as RequestId);
      case 'mcpServer/startupStatus/updated':
        return this.#takeServerStatus(params);
    }
  }

  #startTurn(fold: ThreadFold, turnId: string): void {
    const { key, threadId } = fold;
    if (fold.turnId === turnId || fold.endedTurnId === turnId) return;
    if (fold.turnId !== null) this.#endTurn(fold, { id: fold.turnId, error: { message: NO_END } });
    fold.turnId = turnId;
    if (key === MAIN) return this.#emit({ key, type: 'turn_started' });
    const run = this.#subAgents.startRun(threadId);
    if (run !== null) this.#emit({ key, type: 'thread_started', prompt: run.prompt });
  }

  #endTurn(fold: ThreadFold, turn: Fields): void {
    const { key, threadId } = fold;
    const [turnId, status] = [nameIn(turn['id']) ?? fold.turnId ?? '', text(turn['status']) ?? 'failed'];
    if (fold.endedTurnId === turnId) return;
    // Starts the turn if its beginning was not reported.
    this.#startTurn(fold, turnId);
    for (const ask of this.#asks.withdraw(threadId)) {
      this.#emit({ key, type: 'ask_withdrawn', callId: ask.callId });
      this.#endMadeUp(ask, true);
    }
    for (const ask of this.#madeUp.values()) if (ask.threadId === threadId) this.#endMadeUp(ask, false);
    fold.endTurn(status);
    const outcome = toOutcome(turn);
    if (key === MAIN) {
      const isMoreToCome = this.#says.end(turnId);
      return this.#emit({ key, type: 'turn_ended', outcome, isMoreToCome, message: turnId });
    }
    const end = outcome.type === 'done' ? 'completed' : outcome.type === 'stopped' ? 'stopped' : 'failed';
    const error = 'message' in outcome ? outcome.message : null;
    this.#emit({ key, type: 'thread_ended', status: end, error });
  }

  #takeItem(fold: ThreadFold, item: Fields, turnId: string | undefined, isComplete: boolean): void {
    if (item['type'] === 'subAgentActivity') return this.#subAgents.takeActivity(fold, item);
    if (!isComplete) fold.startItem(item);
    if (item['type'] === 'collabAgentToolCall') this.#subAgents.takeCall(fold, item, isComplete);
    if (!isComplete) return;
    const callId = fold.callOf(nameIn(item['id']) ?? '')?.callId;
    fold.completeItem(item, turnId);
    if (callId !== undefined) this.#asks.forget(callId);
  }

  #add({ threadId, key, model, agent }: { threadId: string; key: string; model: string; agent: AgentSnapshot }): void {
    const fold = new ThreadFold({
      threadId,
      key,
      model,
      policy: toCallPolicy(agent, () => this.#mode),
      callIds: this.#callIds,
      emit: (event) => this.#emit(event),
      denialOf: (callId) => this.#asks.denialOf(callId),
    });
    this.#threads.set(threadId, fold);
    const { lines, isCut } = this.#held.take(threadId);
    for (const line of lines) this.#take(line);
    if (isCut)
      this.#emit({
        key,
        type: 'transcript_missing',
        message: 'the program reported too much before the agent was known',
      });
  }

  #ask(fold: ThreadFold, { id, method, params }: Extract<RpcLine, { type: 'request' }>): void {
    const found = readAsk(fold, { id, method, params });
    if (found === null) return this.#options.reject(id, `This client cannot answer ${method}.`);
    const { ask, choice, event } = found;
    if (ask.isMadeUp) this.#madeUp.set(ask.callId, ask);
    if (choice === 'deny') this.#asks.settle(ask, { type: 'deny', message: DENIED[this.#mode] });
    else if (choice === 'allow') this.#asks.settle(ask, { type: 'allow' });
    else if (this.#asks.take(ask)) {
      if (event !== null) this.#emit({ key: fold.key, ...event });
      fold.wait(ask.callId);
    }
  }

  #resolve(id: RequestId): void {
    const resolved = this.#asks.resolve(id);
    if (resolved === undefined) return;
    const { ask, isWithdrawn } = resolved;
    this.#foldOf(ask.callId)?.go(ask.callId);
    const key = this.#keyOf(ask.callId);
    if (isWithdrawn) this.#emit({ key, type: 'ask_withdrawn', callId: ask.callId });
    this.#endMadeUp(ask, isWithdrawn);
    if (ask.isMadeUp || isWithdrawn) this.#asks.forget(ask.callId);
  }

  /** Emits the result of a call that only its ask describes, when the ask or the turn has ended. */
  #endMadeUp(ask: Ask, isWithdrawn: boolean): void {
    if (!this.#madeUp.delete(ask.callId)) return;
    const result = toMadeUpResult(ask, isWithdrawn, this.#asks.denialOf(ask.callId));
    this.#emit({ key: this.#keyOf(ask.callId), ...result });
  }

  #takeError(fold: ThreadFold, params: Fields): void {
    if (params['willRetry'] !== true) return;
    fold.failRequest();
    const error = record(params['error']);
    const { httpStatus: status, message } = readError(error);
    const details = text(error?.['additionalDetails']);
    const most = /\b\d+\/(\d+)\b/.exec(message)?.[1];
    const retriesMax = most === undefined ? null : Number(most);
    this.#emit({ key: fold.key, type: 'retry', message: details ?? message, status, delayMs: 0, retriesMax });
  }

  #takeServerStatus(params: Fields): void {
    const serverName = nameIn(params['name']);
    if (serverName === undefined || params['status'] !== 'failed' || this.#failedServers.has(serverName)) return;
    this.#failedServers.set(serverName, true);
    const reason = text(params['error']) ?? null;
    const isLogin = /\b401\b|unauthori[sz]ed|not logged in/i.test(reason ?? '');
    this.#emit({ key: MAIN, type: 'server_failed', serverName, isLogin, reason });
  }

  /** Emits a failed turn for a message that the program rejected. */
  #emitFailedTurn(message: string): void {
    this.#emit({ key: MAIN, type: 'turn_started' });
    const outcome = { type: 'failed', reason: 'request_failed', message } as const;
    this.#emit({ key: MAIN, type: 'turn_ended', outcome, isMoreToCome: false });
  }

  #foldOf(callId: string): ThreadFold | undefined {
    return this.#threads.get(this.#callIds.find(callId)?.threadId ?? '');
  }

  #keyOf(callId: string): string {
    return this.#foldOf(callId)?.key ?? MAIN;
  }

  #emit(event: ProgramEvent): void {
    this.#events.push(event);
  }

  #drain(): readonly ProgramEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

const NO_END = 'The program did not report how the turn ended.';
const NOT_AVAILABLE = 'This tool is not available to this agent.';
const DENIED: Readonly<Record<PermissionMode, string>> = {
  default: NOT_AVAILABLE,
  untrusted: NOT_AVAILABLE,
  deny: 'The permission mode of the session denies this call.',
};

function setModel(fold: ThreadFold, model: unknown): void {
  fold.model = text(model) ?? fold.model;
}

function itemOf(params: Fields): string {
  return nameIn(params['itemId']) ?? '';
}

function toMadeUpResult({ callId }: Ask, isWithdrawn: boolean, denial: string | undefined) {
  const words = isWithdrawn ? 'The program no longer asks.' : (denial ?? 'Allowed.');
  const isError = isWithdrawn || denial !== undefined;
  return { type: 'result' as const, callId, content: [{ type: 'text' as const, text: words }], isError };
}

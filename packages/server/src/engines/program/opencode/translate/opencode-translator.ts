import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { MAIN, type ProgramCall, type ProgramEvent } from '../../program.ts';
import { toToolPolicy, type ToolPolicy } from '../approvals/tool-policy.ts';
import type {
  AskRequest,
  MessageInfo,
  OpencodeError,
  OpencodeEvent,
  Part,
  SessionInfo,
  Snapshot,
} from '../wire/events.ts';
import { toPlan } from '../../lines/to-plan.ts';
import { record, text } from '../../lines/values.ts';
import { RecentMap } from '../../../../base/collections/recent-map.ts';
import { programLimits } from '../../limits.ts';
import { CallIds } from './call-ids.ts';
import { isServed, type MessageState, Thread } from './thread.ts';

/** The input of translating one conversation. */
export interface TranslatorOptions {
  /** opencode's id of the main agent's conversation. */
  readonly conversation: string;
  readonly agent: AgentSnapshot;
  readonly members: readonly AgentSnapshot[];
  /** Conversations of sub-agents that have a thread in the log. */
  readonly known: readonly string[];
  /** Messages of the main conversation from before the program was opened. */
  readonly history?: ReadonlySet<string> | undefined;
  readonly now: () => number;
  /** How many times a model request is retried. opencode itself has no limit. */
  readonly retriesMax: number;
  /** Returns the HTTP status of a failed attempt by its message, because opencode does not report it. */
  readonly statusOf: (message: string) => number | null;
  /** Called when the run in a conversation must be aborted, because its request was retried too often. */
  readonly onGiveUp: (conversation: string) => void;
  /** Called with the ask of a call. Returns whether the ask waits for a decision. */
  readonly onAsk: (request: AskRequest, callId: string, tool: ProgramCall['tool'], key: string) => boolean;
  /** Called when an agent has made a call. */
  readonly onCall?: ((callId: string, tool: ProgramCall['tool'], conversation: string) => void) | undefined;
  /** Returns the message of the denial of a call. */
  readonly denialOf?: ((callId: string) => string | undefined) | undefined;
  /** Called when a call has ended. Returns whether it still waited for a decision. */
  readonly onCallEnd: (callId: string) => boolean;
}

/** Translates events of opencode's stream to program events. It does no input or output of its own. */
export class OpencodeTranslator {
  readonly #options: TranslatorOptions;
  readonly #threads = new Map<string, Thread>();
  /** Conversations of sub-agents without a thread in this process yet. */
  readonly #unjoined = new RecentMap<SessionInfo>({ entriesMax: programLimits.programKeptNamesMax });
  /** The agent name and the parent of each conversation. */
  readonly #agents = new RecentMap<string>({ entriesMax: programLimits.programKeptNamesMax });
  readonly #parents = new RecentMap<string>({ entriesMax: programLimits.programKeptNamesMax });
  readonly #messages = new RecentMap<MessageState>({ entriesMax: programLimits.opencodeMessagesMax });
  readonly #policies = new Map<AgentSnapshot, ToolPolicy>();
  readonly #callIds = new CallIds();
  /** Ids of messages to the main agent that it has not answered. */
  #unanswered: string[] = [];
  #continue: (() => void) | null = null;

  constructor(options: TranslatorOptions) {
    this.#options = options;
    const main = this.#createThread(options.conversation, MAIN);
    main.takeHistory(options.history ?? []);
    this.#threads.set(options.conversation, main);
    // Known sub-agents are opened again with their first run in this process, as in the other engines.
    const parentId = options.conversation;
    for (const id of options.known) this.#unjoined.set(id, { id, parentId, title: '', agent: null });
  }

  /** Whether the main agent is running. */
  get isMainRunning(): boolean {
    return this.#main.isRunning;
  }

  /** Whether the end of the main agent's run was reported once and will be reported again. */
  get isMainSettling(): boolean {
    return this.#main.isSettling;
  }

  /** Conversations with a running agent. */
  get running(): readonly string[] {
    return [...this.#threads].filter(([, { isRunning }]) => isRunning).map(([id]) => id);
  }

  /** Conversations whose end was reported once and will be reported again, and whether a run of them is open. */
  get settling(): readonly { readonly conversation: string; readonly isRunning: boolean }[] {
    const found = [...this.#threads].filter(([, { isSettling }]) => isSettling);
    return found.map(([conversation, { isRunning }]) => ({ conversation, isRunning }));
  }

  /** Conversations with a thread, including the main agent's. */
  get conversations(): readonly string[] {
    return [...this.#threads.keys()];
  }

  /** Ids of messages to the main agent that were not answered yet. */
  get unanswered(): readonly string[] {
    return this.#unanswered;
  }

  /** Records a message to the main agent with this id. */
  said(messageId: string): void {
    this.#unanswered.push(messageId);
  }

  /** Records that a lost message is sent again under another id. */
  saidAgain(lostId: string, messageId: string): void {
    this.#unanswered = this.#unanswered.map((id) => (id === lostId ? messageId : id));
  }

  /** Emits a failed turn or request for a message that could not be sent, or was never answered. */
  failSaid(messageId: string, message: string): ProgramEvent[] {
    this.#unanswered = this.#unanswered.filter((id) => id !== messageId);
    if (this.#main.isRunning) return [{ type: 'request_failed', key: MAIN, message }];
    return this.#failTurn({ name: 'UnknownError', message, statusCode: null });
  }

  /** Whether opencode has stored a message to the main agent. */
  isStored(messageId: string): boolean {
    return this.#main.isStored(messageId);
  }

  /** Sets the function that continues the turn of the main agent when opencode ends its run; null: the turn ends. */
  continueAfter(run: (() => void) | null): void {
    this.#continue = run;
  }

  /** The conversation of an agent; undefined for an unknown key. */
  conversationOf(key: string): string | undefined {
    return [...this.#threads].find(([, thread]) => thread.key === key)?.[0];
  }

  take(event: OpencodeEvent): ProgramEvent[] {
    switch (event.type) {
      case 'session':
        return this.#takeSession(event.session);
      case 'message':
        return this.#takeMessage(event.message);
      case 'part':
        return this.#takePart(event.part);
      case 'asked':
        return this.#of(event.request.sessionId, (thread) => thread.takeAsk(event.request));
      case 'replied':
        return [];
      case 'status':
        return this.#of(event.sessionId, (thread) => [
          ...(event.status.type === 'busy' ? this.#resume(thread) : []),
          ...thread.takeStatus(event.status),
        ]);
      case 'delta':
        return this.#of(event.sessionId, (thread) => thread.takeDelta(event.messageId, event.partId, event.text));
      case 'idle':
        return this.#of(event.sessionId, (thread) => (thread.takeIdle() ? this.#endOrContinue(thread) : []));
      case 'error':
        return this.#of(event.sessionId, (thread) => this.#takeError(thread, event));
      case 'compacted':
        return this.#of(event.sessionId, ({ key }) => [{ type: 'compacted', key }]);
      case 'todos':
        return this.#of(event.sessionId, ({ key }) => [{ type: 'plan', key, items: toPlan(event.todos, 'content') }]);
    }
  }

  /** The events of a conversation that were missed while the stream of events was broken. */
  catchUp({ conversation, status, messages, asks, children }: Snapshot): ProgramEvent[] {
    const thread = this.#threads.get(conversation);
    const isBegun = status.type !== 'idle' && thread?.isRunning === false;
    return [
      ...children.flatMap((child) => this.#takeSession(child)),
      ...(isBegun ? this.take({ type: 'status', sessionId: conversation, status: { type: 'busy' } }) : []),
      ...messages.flatMap(({ message, parts }) => this.#takeMissed(message, parts)),
      ...asks.flatMap((request) => this.take({ type: 'asked', request })),
      ...(status.type === 'idle' ? this.settle(conversation) : []),
    ];
  }

  #takeMissed(message: MessageInfo, parts: readonly Part[]): ProgramEvent[] {
    const isMissed = this.#threads.get(message.sessionId)?.isMissed(message) ?? true;
    const isWritten = message.role === 'assistant' && isMissed && message.isCompleted;
    return [
      ...this.#takeMessage(isWritten ? { ...message, isCompleted: false } : message),
      ...parts.flatMap((part) => this.#takePart(part)),
      ...(isWritten ? this.#takeMessage(message) : []),
    ];
  }

  /** Keeps a run open whose end was reported: the report belonged to an earlier run. */
  unsettle(conversation: string): void {
    this.#threads.get(conversation)?.unsettle();
  }

  /** Ends a run whose end was reported once and not again in time. */
  settle(conversation: string): ProgramEvent[] {
    const thread = this.#threads.get(conversation);
    return thread === undefined ? [] : this.#end(thread);
  }

  /** Handles work after a reported end: it belongs to the next run if this one has failed, and to the same run otherwise. */
  #resume(thread: Thread): ProgramEvent[] {
    if (thread.isRunning && thread.isSettling && thread.hasFailed) return this.#end(thread);
    thread.unsettle();
    return [];
  }

  /** Ends a run, or continues it after a denial of several calls at once: the model has not read the reasons, and a message with them follows. */
  #endOrContinue(thread: Thread): ProgramEvent[] {
    const run = thread.key === MAIN ? this.#continue : null;
    if (run === null) return this.#end(thread);
    this.#continue = null;
    run();
    return [];
  }

  /** Ends the run. A message that it did not answer is sent again, or is answered by the next turn. */
  #end(thread: Thread): ProgramEvent[] {
    return thread.settle({ isMoreToCome: thread.key === MAIN && this.#unanswered.length > 0 });
  }

  get #main(): Thread {
    // The constructor has created this thread.
    return this.#threads.get(this.#options.conversation)!;
  }

  #takeSession(session: SessionInfo): ProgramEvent[] {
    const { id, parentId, agent } = session;
    if (agent !== null) this.#agents.set(id, agent);
    if (parentId === null || this.#threads.has(id) || !this.#isOurs(parentId)) return [];
    if (!this.#unjoined.has(id)) this.#unjoined.set(id, session);
    return [];
  }

  #takeMessage(message: MessageInfo): ProgramEvent[] {
    if (message.role === 'assistant' && message.sessionId === this.#options.conversation) {
      const { parentId } = message;
      // Ids grow with time: a response answers all messages up to its parent.
      if (parentId !== null) this.#unanswered = this.#unanswered.filter((id) => id > parentId);
    }
    return this.#of(message.sessionId, (thread) => thread.takeMessage(message));
  }

  #takePart(part: Part): ProgramEvent[] {
    const events = this.#of(part.sessionId, (thread) => thread.takePart(part));
    const childId = part.type === 'tool' ? part.state.childId : null;
    const session = childId === null ? undefined : this.#unjoined.get(childId);
    if (session === undefined || part.type !== 'tool') return events;
    const call = { callId: this.#callIds.of(part.id, part.callId), input: part.state.input };
    const opened = this.#open(session, call);
    // The call comes before the thread that it opens, and its result after it.
    const at = events.findIndex(({ type }) => type === 'result');
    return at < 0 ? [...events, ...opened] : [...events.slice(0, at), ...opened, ...events.slice(at)];
  }

  #takeError(thread: Thread, { error }: Extract<OpencodeEvent, { type: 'error' }>): ProgramEvent[] {
    thread.takeError(error);
    // A message that fails before any request, such as one for an unknown model, begins no run.
    if (thread.isRunning || thread.key !== MAIN || this.#unanswered.length === 0) return [];
    this.#unanswered = [];
    return this.#failTurn(error);
  }

  #failTurn(error: OpencodeError): ProgramEvent[] {
    const begun = this.#main.takeStatus({ type: 'busy' });
    this.#main.takeError(error);
    return [...begun, ...this.#end(this.#main)];
  }

  /** Calls `take` with the thread of a conversation. Unknown conversations are ignored. */
  #of(id: string, take: (thread: Thread) => ProgramEvent[]): ProgramEvent[] {
    const session = this.#unjoined.get(id);
    const opened = session === undefined ? [] : this.#open(session, null);
    const thread = this.#threads.get(id);
    if (thread === undefined) return [];
    const events = take(thread);
    const isWaiting = events.some((event) => event.type === 'ask' || (event.type === 'call' && isServed(event.tool)));
    return [...opened, ...events, ...(isWaiting ? this.#rest(id) : [])];
  }

  /** Ends the model requests of an agent that waits for a client, and of the agents above that wait for it. */
  #rest(id: string): ProgramEvent[] {
    const events: ProgramEvent[] = [];
    let at: string | undefined = id;
    for (let level = 0; at !== undefined && level < programLimits.opencodeLevelsMax; level++) {
      events.push(...(this.#threads.get(at)?.rest() ?? []));
      at = this.#parents.get(at);
    }
    return events;
  }

  #open(session: SessionInfo, call: { readonly callId: string; readonly input: unknown } | null): ProgramEvent[] {
    const { id, parentId } = session;
    this.#unjoined.delete(id);
    const parent = parentId === null ? undefined : this.#threads.get(parentId);
    const input = readTask(call?.input);
    const agentName = input.agentName ?? session.agent ?? readTitle(session.title).agentName ?? 'agent';
    this.#agents.set(id, agentName);
    if (parentId !== null) this.#parents.set(id, parentId);
    this.#threads.set(id, this.#createThread(id, id, { isAnnounced: true }));
    return [
      {
        type: 'thread_opened',
        key: id,
        parentKey: parent?.key ?? MAIN,
        agentName,
        description: input.description ?? readTitle(session.title).description,
        prompt: input.prompt,
        callId: call?.callId ?? null,
      },
    ];
  }

  #isOurs(id: string): boolean {
    return this.#threads.has(id) || this.#unjoined.has(id);
  }

  #createThread(id: string, key: string, announced?: { readonly isAnnounced: boolean }): Thread {
    const { now, retriesMax, statusOf, onAsk, denialOf, onCallEnd } = this.#options;
    const onGiveUp = () => this.#options.onGiveUp(id);
    const onCall = (callId: string, tool: ProgramCall['tool']) => this.#options.onCall?.(callId, tool, id);
    const callIdOf = (partId: string, callId: string) => this.#callIds.of(partId, callId);
    const toolOf = (name: string) => this.#policyOf(id).toolOf(name);
    return new Thread(
      {
        key,
        messages: this.#messages,
        now,
        retriesMax,
        statusOf,
        onGiveUp,
        toolOf,
        callIdOf,
        onCall,
        onAsk,
        denialOf,
        onCallEnd,
      },
      announced,
    );
  }

  /** The tool policy of a conversation. Agents that are not in the roster are opencode's own, and have the policy of the agent above them. */
  #policyOf(id: string): ToolPolicy {
    const { agent, members, conversation } = this.#options;
    const memberOf = (at: string) =>
      at === conversation ? agent : members.find((each) => each.name === this.#agents.get(at));
    let at = id;
    for (let level = 0; memberOf(at) === undefined && level < programLimits.opencodeLevelsMax; level++) {
      const parent = this.#parents.get(at);
      if (parent === undefined) break;
      at = parent;
    }
    const definition = memberOf(at) ?? agent;
    const known = this.#policies.get(definition) ?? toToolPolicy(definition);
    this.#policies.set(definition, known);
    return known;
  }
}

interface Task {
  readonly agentName: string | undefined;
  readonly description: string | undefined;
  readonly prompt: string | null;
}

/** Reads the input of a `task` call. */
function readTask(input: unknown): Task {
  const given = record(input);
  return {
    agentName: text(given?.['subagent_type']),
    description: text(given?.['description']),
    prompt: text(given?.['prompt']) ?? null,
  };
}

/** Reads a title of the form `<description> (@<agent> subagent)`. */
function readTitle(title: string): { readonly agentName: string | undefined; readonly description: string | null } {
  const [, description, agentName] = /^(.*) \(@(.+) subagent\)$/s.exec(title) ?? [];
  return { agentName, description: description ?? (title === '' ? null : title) };
}

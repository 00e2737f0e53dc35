import type { Clock } from '../../../base/clock.ts';
import { inBackground } from '../../../base/in-background.ts';
import type { Cancel, Schedule } from '../../../base/schedule.ts';
import type { ProgramHandle } from '../engine/create-program-engine.ts';
import { programLimits } from '../limits.ts';
import { record } from '../lines/values.ts';
import { NOISE } from '../process/line-program.ts';
import { ProgramEvents } from '../process/program-events.ts';
import type { ControlAnswer, ProgramControl } from '../program-controls.ts';
import { MAIN, type ProgramCall, type ProgramEvent, type ProgramOptions } from '../program.ts';
import { type AskReply, Asks } from './approvals/asks.ts';
import { openConversation } from './server/open-conversation.ts';
import { createMessageIds } from './server/message-id.ts';
import { OpencodeServer, type OpencodeServerOptions } from './server/opencode-server.ts';
import { readSnapshot } from './server/read-snapshot.ts';
import { Says } from './server/says.ts';
import { OpencodeTranslator } from './translate/opencode-translator.ts';
import { isServed } from './translate/thread.ts';
import { toServerFailures } from './translate/to-server-failures.ts';
import type { AskRequest } from './wire/events.ts';
import { readEvent, readStatus } from './wire/read-event.ts';
import type { ToolServer } from './server/tool-server.ts';
import type { ModelDeclarations } from './server/model-declarations.ts';
import type { OpencodeModel } from './launch/model-choice.ts';
import { toOpencodeModel } from './launch/model-choice.ts';

/** Options of the program of one session. */
export interface OpencodeProgramOptions
  extends ProgramOptions,
    Pick<OpencodeServerOptions, 'launch' | 'register' | 'password' | 'dialer'> {
  readonly schedule: Schedule;
  readonly clock: Pick<Clock, 'now'>;
  /** The model of the definition. */
  readonly model: OpencodeModel;
  /** Declares further models to opencode. Null: opencode's own providers. */
  readonly declarations: ModelDeclarations | null;
  readonly tools: ToolServer;
  /** How many times a model request is retried. */
  readonly retriesMax: number;
  /** The HTTP status of a failed model request, by its message. */
  readonly statusOf: (message: string) => number | null;
  /** Called when the process has ended. */
  readonly onGone: () => void;
}

/** One opencode server that works on one conversation: its events become program events, and actions of the session become requests. */
export function openOpencodeProgram(options: OpencodeProgramOptions): ProgramHandle {
  const { schedule, clock, agent } = options;
  const queue = new ProgramEvents({
    onFull: () => server.hold(true),
    onRoom: () => server.hold(false),
    fail: (reason) => server.fail(reason),
  });
  const settling = new Map<string, Cancel>();
  let translator: OpencodeTranslator | undefined;
  let model = options.model;
  /** Agents may only read, and no approval is requested. */
  let isClosed = false;
  let isClosing = false;
  let noiseBytes = 0;
  /** The turn of a message that was sent must be stopped when it begins. */
  let isStopping = false;
  /** Actions from before the conversation was open. */
  let waiting: (() => void)[] = [];

  let sending: Promise<unknown> = Promise.resolve();
  /** Sends requests one after the other: a denial must not overtake an earlier approval. */
  const send = (path: string, body?: unknown, method = 'POST') => {
    // A request without a response means that the server has ended, which the end of the process reports.
    sending = sending.then(() => server.send(method, path, body)).catch(() => {});
  };
  const push = (events: readonly ProgramEvent[], bytes = 0) => {
    for (const event of events) if (event.type === 'call') announce(event);
    if (isStopping && events.some(({ type }) => type === 'turn_started')) {
      isStopping = false;
      abort(translator?.conversationOf(MAIN));
    }
    queue.push(events, bytes);
    watchSettling();
    says.pump();
  };
  const asks = new Asks({
    schedule,
    reply: (request, reply) => sendReply(request, reply),
    onAnswered: (callId) => {
      const key = calls.get(callId);
      if (key !== undefined) queue.push([{ type: 'answered', key, callId }], 0);
    },
    onDropped: (conversation, messages) => {
      if (conversation !== translator?.conversationOf(MAIN)) return;
      translator.continueAfter(() => says.say([{ type: 'text', text: toContinuation(messages) }]));
    },
  });
  /** Calls of custom tools without a result. */
  const custom = new Set<string>();
  /** The keys of the agents of calls with an ask, by call id. */
  const calls = new Map<string, string>();
  const says = new Says({
    schedule,
    nextId: createMessageIds(() => clock.now()),
    server: () => server,
    translator: () => translator,
    toPrompt: async () => {
      await sending;
      const declared = await options.declarations?.declare(model, server, isConnected);
      return declared === false
        ? null
        : { model, ...(agent.system === null || agent.system === '' ? {} : { system: agent.system }) };
    },
    onEvents: (events) => queue.push(events, 0),
  });
  let onConnected: (() => void)[] = [];
  const isConnected = () => new Promise<void>((resolve) => onConnected.push(resolve));
  const server = new OpencodeServer({
    ...options,
    onConnected: (isAgain) => {
      inBackground(isAgain ? catchUp() : open(), (error) => server.fail(toMessage(error)));
      for (const resolve of onConnected.splice(0)) resolve();
    },
    onEvents: (values, bytes) => {
      const events = values.flatMap((value) => {
        const event = readEvent(value);
        if (event?.type === 'replied') asks.takeReplied(event.requestId);
        return event === null ? [] : (translator?.take(event) ?? []);
      });
      noiseBytes = events.length > 0 ? 0 : noiseBytes + bytes;
      if (noiseBytes > programLimits.programNoiseBytesMax) server.fail(NOISE);
      push(events, bytes);
    },
    onExit: (exit) => {
      for (const cancel of settling.values()) cancel();
      says.close();
      options.onGone();
      queue.push([{ type: 'exited', key: MAIN, ...exit }], 0);
      queue.end();
    },
  });

  return {
    gone: server.gone,
    events: queue,
    say: (content) => whenOpen(() => says.say(content)),
    interrupt: () =>
      whenOpen(() => {
        translator?.continueAfter(null);
        isStopping = translator?.isMainRunning === false && translator.unanswered.length > 0;
        abort(translator?.conversationOf(MAIN));
      }),
    stopThread: (key) => whenOpen(() => abort(translator?.conversationOf(key))),
    setModel: (name) => (model = toOpencodeModel(name, options.model)),
    setPermissionMode: (mode) =>
      whenOpen(() => {
        isClosed = mode === CLOSED_MODE;
        const rules = isClosed ? closedTools.map((permission) => ({ permission, pattern: '*', action: 'deny' })) : [];
        send(`/session/${translator?.conversationOf(MAIN)}`, { permission: rules }, 'PATCH');
      }),
    answer: (callId, decision) => asks.give(callId, decision),
    giveResult: (callId, result) => {
      // A question is answered as an ask, a custom tool call by the tool server.
      if (custom.has(callId)) options.tools.give(callId, result);
      else asks.give(callId, result);
    },
    controls: opencodeControls,
    control: async (): Promise<ControlAnswer> => ({ type: server.vitals.isAlive ? 'unsupported' : 'exited' }),
    vitals: () => server.vitals,
    close: async ({ isOverdue } = { isOverdue: false }) => {
      if (!isClosing) {
        isClosing = true;
        says.close();
        if (!isOverdue) await abortAll();
      }
      await server.close({ isOverdue });
    },
  };

  async function open(): Promise<void> {
    const opened = await openConversation(server, { ...options, title: agent.name });
    translator = new OpencodeTranslator({
      ...options,
      conversation: opened.conversation,
      known: options.known.map(({ key }) => key),
      history: opened.history,
      now: () => clock.now(),
      onAsk: (request, callId, tool, key) => {
        calls.set(callId, key);
        if (isClosed && 'permission' in tool && tool.permission === 'ask')
          asks.give(callId, { type: 'deny', message: CLOSED });
        return asks.take(request, callId, tool);
      },
      onGiveUp: abort,
      onCall: (callId, tool, conversation) => {
        if ('permission' in tool && tool.permission === 'ask') asks.expect(callId, conversation);
      },
      denialOf: (callId) => asks.denialOf(callId),
      onCallEnd: (callId) => {
        calls.delete(callId);
        custom.delete(callId);
        options.tools.end(callId);
        return asks.end(callId);
      },
    });
    const { conversation, version } = opened;
    push([{ type: 'opened', key: MAIN, conversation, version }]);
    for (const run of waiting.splice(0)) run();
    if (agent.mcp_servers.length + options.members.flatMap((member) => member.mcp_servers).length > 0)
      push(toServerFailures((await server.send('GET', '/mcp')).body));
  }

  /** Reads what was missed from the server, after the stream of events was reconnected. */
  async function catchUp(): Promise<void> {
    if (translator === undefined) return await open();
    for await (const snapshot of readSnapshot(server, translator.conversations)) push(translator.catchUp(snapshot));
  }

  /** Announces a call of a custom tool to the tool server, to which opencode sends the call too. */
  function announce({ callId, tool, input }: ProgramCall): void {
    if (tool.kind !== 'custom' || !isServed(tool)) return;
    custom.add(callId);
    options.tools.announce(callId, tool.toolName, input);
  }

  function whenOpen(run: () => void): void {
    if (translator === undefined) waiting.push(run);
    else run();
  }

  function abort(conversation: string | undefined): void {
    if (conversation !== undefined) send(`/session/${conversation}/abort`);
  }

  /** Aborts all running conversations: commands of opencode would survive the process. */
  async function abortAll(): Promise<void> {
    const running = translator?.running ?? [];
    const aborted = running.map((conversation) =>
      server.send('POST', `/session/${conversation}/abort`).catch(() => {}),
    );
    const limit = new Promise<void>((resolve) => void schedule(resolve, programLimits.opencodeAbortMs));
    await Promise.race([Promise.all(aborted), limit]);
  }

  function sendReply({ id, kind }: AskRequest, reply: AskReply): void {
    if (reply.type === 'reject_question') return send(`/question/${id}/reject`);
    if (reply.type === 'answers') return send(`/question/${id}/reply`, { answers: reply.answers });
    const message = reply.type === 'reject' && reply.message !== null ? { message: reply.message } : {};
    if (kind === 'permission') send(`/permission/${id}/reply`, { reply: reply.type, ...message });
  }

  /** Limits how long the second report of a run's end is waited for. */
  function watchSettling(): void {
    const now = new Map(translator?.settling.map(({ conversation, isRunning }) => [conversation, isRunning]));
    for (const [conversation, cancel] of settling) {
      if (now.delete(conversation)) continue;
      cancel();
      settling.delete(conversation);
    }
    for (const [conversation, isRunning] of now) {
      const delayMs = isRunning ? programLimits.opencodeSettleMs : programLimits.opencodeSecondEndMs;
      const giveUp = () => {
        settling.delete(conversation);
        inBackground(isRunning ? settleIfIdle(conversation) : settle(conversation), () => {});
      };
      settling.set(conversation, schedule(giveUp, delayMs));
    }
  }

  async function settleIfIdle(conversation: string): Promise<void> {
    const statuses = (await server.send('GET', '/session/status')).body;
    const isIdle = (readStatus(record(statuses)?.[conversation])?.type ?? 'idle') === 'idle';
    if (isIdle) return await settle(conversation);
    translator?.unsettle(conversation);
    push([]);
  }

  async function settle(conversation: string): Promise<void> {
    push(translator?.settle(conversation) ?? []);
  }
}

/** The control requests that opencode supports outside of turns. */
export const opencodeControls: readonly ProgramControl[] = [];

/** The permission mode in which agents may only read, and no approval is requested. */
export const CLOSED_MODE = 'deny';
const CLOSED = 'Calls that need an approval are denied in this session.';
/** The tools that are denied in this mode: commands, changes of files, hosts, and tools of MCP servers, whose names have an underscore. */
const closedTools = ['bash', 'edit', 'webfetch', 'websearch', 'codesearch', '*_*'];

function toContinuation(messages: readonly string[]): string {
  if (messages.length === 0)
    return 'A call was denied, and the calls beside it were not run. Continue without the denied call.';
  return `Several calls were denied:\n${messages.map((message) => `- ${message}`).join('\n')}`;
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

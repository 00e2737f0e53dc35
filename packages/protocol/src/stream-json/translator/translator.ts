import { identifier, nonEmpty, record, text } from '../base/check.ts';
import type { AgentEvent, Prompt } from '../wire/events.ts';
import { OPEN_REQUESTS_MAX } from '../base/limits.ts';
import type { LineIssue, StreamJsonMessage } from '../wire/messages.ts';
import type { LineSink } from '../lines/reader.ts';
import { restoreState, saveState, type TranslatorSnapshot } from './snapshot.ts';
import { shortName } from '../base/text-mark.ts';
import type { Thread } from '../threads/threads.ts';
import { createState, type TranslatorOptions, type TranslatorState } from './translator-state.ts';

/**
 * Translates the messages of one stream into events of all its agents: each block once, on its agent, in order.
 * It never throws for a message's content; what it does not understand is emitted as `raw` and counted in `drift()`.
 *
 * @example
 * const translator = new Translator();
 * for (const event of translator.translate(message)) console.log(event.thread, event.type);
 */
export class Translator implements LineSink {
  /** Takes a line before it is parsed: the accelerator, where there is one and the stream repeats itself. */
  bytes: LineSink['bytes'];
  readonly #options: TranslatorOptions;
  #state: TranslatorState;

  constructor(options: TranslatorOptions = {}) {
    this.#options = options;
    this.#state = createState(options);
  }

  /** A translator that continues where the snapshot was taken. Throws for a snapshot of another version. */
  static restore(snapshot: TranslatorSnapshot, options?: TranslatorOptions): Translator {
    const translator = new Translator(options);
    restoreState(snapshot, translator.#state);
    return translator;
  }

  /** The state between two lines as a JSON value. */
  snapshot(): TranslatorSnapshot {
    return saveState(this.#state);
  }

  /** The last seen session id. */
  get sessionId(): string | undefined {
    return this.#state.turns.state.sessionId;
  }

  /** The last seen model of the main agent. */
  get model(): string | undefined {
    return this.#state.turns.state.model;
  }

  /** How often each unknown kind, and each inconsistency of the wire, was seen. */
  drift(): Record<string, number> {
    return Object.fromEntries(this.#state.sink.drift);
  }

  /** Forgets everything: the next message is the first of a new stream. */
  reset(): void {
    this.#state = createState(this.#options);
  }

  /** The events of one message. */
  translate(message: StreamJsonMessage): AgentEvent[] {
    this.message(message);
    return this.take();
  }

  /** The events since the last call. `message` and `issue` make a translator a sink for `StreamJsonReader.read`. */
  take(): AgentEvent[] {
    return this.#state.sink.take();
  }

  message(message: StreamJsonMessage): void {
    const { sink, threads, content, streams, turns } = this.#state;
    sink.ts = text(message.timestamp);
    switch (message.type) {
      case 'assistant': {
        const thread = threads.freshLine(message);
        if (thread) content.assistant(message, thread);
        break;
      }
      case 'user': {
        const thread = threads.freshLine(message);
        if (thread) this.#user(message, thread);
        break;
      }
      case 'stream_event':
        streams.event(message, threads.route(message));
        break;
      case 'system':
        this.#system(message);
        break;
      case 'result':
        if (threads.freshLine(message)) this.#result(message);
        break;
      case 'control_request':
        this.#controlRequest(message);
        break;
      case 'control_cancel_request':
        this.#controlCancel(message);
        break;
      default:
        this.#other(message);
    }
    turns.state.sessionId ??= identifier(message.session_id);
  }

  /** Whether the stream has repeated earlier blocks in a later line, as older documentation describes it. */
  get repeats(): boolean {
    return this.#state.content.repeats;
  }

  /** For the accelerator, which adds to the state what it has proven. Not part of the public contract. */
  get state(): TranslatorState {
    return this.#state;
  }

  /** Emits an event in place of a line that could not be read. */
  issue(issue: LineIssue): void {
    const { sink, threads } = this.#state;
    sink.ts = undefined;
    sink.emit(threads.main, { type: 'unreadable', issue });
  }

  #system(message: StreamJsonMessage): void {
    const { threads, turns } = this.#state;
    if (message.subtype === 'init') turns.init(message, threads.main);
    // Older documentation has the end of a turn here.
    else if (message.subtype === 'result') this.#result(message);
    else if (!threads.task(message)) this.#other(message);
  }

  #result(message: StreamJsonMessage): void {
    const { content, turns, threads } = this.#state;
    turns.result(message, threads.main);
    content.turnEnded();
  }

  #user(message: StreamJsonMessage, thread: Thread): void {
    const content = record(message.message)?.content ?? [];
    if (typeof content === 'string') return this.#given(message, thread, content);
    if (!Array.isArray(content)) return this.#other(message);
    for (const value of content) {
      const block = record(value);
      if (block?.type === 'tool_result') this.#toolResult(message, thread, block);
      else if (block?.type === 'text') this.#given(message, thread, text(block.text) ?? '');
      else this.#given(message, thread, '', value);
    }
  }

  /** Emits the input of an agent: text or an image. */
  #given(message: StreamJsonMessage, thread: Thread, content: string, media?: unknown): void {
    const { sink, threads } = this.#state;
    const role = roleOf(message, thread, thread === threads.main);
    // Not emitted as a fact: the line itself is emitted as the prompt.
    if (role === 'prompt' && content !== '') thread.facts.prompt ??= shortName(content);
    thread.hasItems = true;
    sink.emit(thread, { type: 'prompt', role, content, media });
  }

  #toolResult(message: StreamJsonMessage, thread: Thread, block: Record<string, unknown>): void {
    const { sink, threads } = this.#state;
    const toolUseId = identifier(block.tool_use_id) ?? '';
    const isError = block.is_error === true;
    const caller = threads.registry.ownerOf(toolUseId) ?? thread;
    caller.hasItems = true;
    sink.toolResult(caller, toolUseId, isError, block.content, message.tool_use_result);
    threads.returned(toolUseId, isError, message.tool_use_result);
  }

  #controlRequest(message: StreamJsonMessage): void {
    const { sink, threads, requests } = this.#state;
    const request = record(message.request);
    const requestId = nonEmpty(message.request_id);
    if (request?.subtype !== 'can_use_tool' || !requestId) return this.#other(message);
    const taskId = identifier(request.agent_id);
    const toolUseId = identifier(request.tool_use_id);
    // By agent id first: 2.1.197 asks before it prints the call, and for nested agents it never prints it.
    const thread = taskId ? threads.child(undefined, taskId) : (threads.registry.ownerOf(toolUseId) ?? threads.main);
    requests.set(shortName(requestId), thread);
    if (requests.size > OPEN_REQUESTS_MAX) requests.delete(requests.keys().next().value as string);
    const toolName = text(request.tool_name) ?? 'unknown';
    const input: object = record(request.input) ?? {};
    sink.emit(thread, { type: 'permission_request', requestId, toolUseId, toolName, input, request });
  }

  #controlCancel(message: StreamJsonMessage): void {
    const { sink, threads, requests } = this.#state;
    const requestId = text(message.request_id) ?? '';
    const thread = requests.get(shortName(requestId)) ?? threads.main;
    requests.delete(shortName(requestId));
    sink.emit(thread, { type: 'permission_withdrawn', requestId });
  }

  /** Emits a line that is not interpreted, and counts it if it is unknown. */
  #other(message: StreamJsonMessage): void {
    const { sink, threads } = this.#state;
    const kind = kindOf(message);
    if (!KNOWN_KINDS.test(kind)) sink.count(kind);
    const caller = threads.registry.ownerOf(callOf(message)) ?? threads.main;
    // The progress of a long call names the call itself as its parent, which is not an agent.
    const isCall = kind === 'tool_progress' && !message.subagent_retry;
    sink.raw(isCall || !identifier(message.parent_tool_use_id) ? caller : threads.route(message), kind, message);
  }
}

function roleOf(message: StreamJsonMessage, thread: Thread, isMain: boolean): Prompt['role'] {
  if (message.isReplay === true) return 'replay';
  if (message.isSynthetic === true) return 'synthetic';
  if (isMain) return 'user';
  return thread.hasItems ? 'note' : 'prompt';
}

function kindOf(message: StreamJsonMessage): string {
  const type = text(message.type) ?? 'untyped';
  const subtype = text(message.subtype) ?? text(record(message.request)?.subtype);
  return subtype === undefined ? type : `${type}/${subtype}`;
}

/** The call that a line is about, if it names one: a hosted MCP tool, a shell task, a denial. */
function callOf(message: StreamJsonMessage): string | undefined {
  const params = record(record(record(message.request)?.message)?.params);
  return identifier(record(params?._meta)?.['claudecode/toolUseId']) ?? identifier(message.tool_use_id);
}

/** Known kinds that are emitted unchanged. All other kinds count as drift. */
const KNOWN_KINDS =
  /^(command_lifecycle|control_(response|request\/(hook_callback|mcp_message))|conversation_reset|tool_progress|system\/(api_retry|background_tasks_changed|compact_boundary|hook_(response|started)|informational|model_(refusal_no_)?fallback|permission_denied|session_state_changed|status|task_(notification|progress|started|updated)|thinking_tokens))$/;

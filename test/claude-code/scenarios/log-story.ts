import type { SessionFrame } from '../../../packages/server/src/frames/frames.ts';
import { MAIN, type Story, StoryBuilder, toPlainContent, toSortedJson } from './story.ts';

export interface LogStory extends Story {
  /** Conversations of the program, in the order in which it opened them. */
  readonly conversations: readonly string[];
  /** The key of a thread by its id in the session. */
  readonly keys: ReadonlyMap<string, string>;
  /** The id that the model gave a call, by the id of its event. */
  readonly calls: ReadonlyMap<string, string>;
  /** Calls that never started because the agent's definition or the program rejected them, by the ids that the model gave them. */
  readonly refused: ReadonlySet<string>;
  /** The thread that made the call. */
  readonly ownerOf: (callId: string) => string | undefined;
}

/**
 * What the log of a session contains of the inputs, texts and calls of its agents. `killedBefore`: when the server was started
 * after it had been killed together with its program.
 */
export function toLogStory(frames: readonly SessionFrame[], killedBefore = -Infinity): LogStory {
  const reader = new LogReader();
  for (const frame of frames) {
    // What recovery adds is later: of that the transcript has everything.
    reader.isBeforeKill = frame.time < killedBefore;
    reader.take(frame);
  }
  return reader.build();
}

class LogReader {
  readonly #story = new StoryBuilder();
  readonly #conversations: string[] = [];
  readonly #keys = new Map<string, string>();
  readonly #calls = new Map<string, string>();
  readonly #refused = new Set<string>();
  readonly #parents = new Map<string, string>();
  /** Ids of blocks: two blocks with one id are one event to every reader. */
  readonly #blocks = new Set<string>();

  set isBeforeKill(isBeforeKill: boolean) {
    this.#story.isBeforeKill = isBeforeKill;
  }

  take(frame: SessionFrame): void {
    const { type, payload, threadId } = frame;
    const key = this.#keys.get(threadId ?? '') ?? MAIN;
    switch (type) {
      case 'session.created':
        return void this.#keys.set(payload.primary_thread_id, MAIN);
      case 'program.opened':
        return void this.#conversations.push(payload.conversation);
      case 'session.thread_created': {
        const child = payload.program_key ?? payload.session_thread_id;
        this.#keys.set(payload.session_thread_id, child);
        this.#parents.set(child, key);
        return this.#story.open(child, key);
      }
      case 'user.message':
        if (payload.is_processed) this.#story.add(key, { kind: 'input', text: toPlainContent(payload.content) });
        return;
      case 'agent.thread_message_received':
        // Reports of its own sub-agents come to a thread the same way: the transcript has them as results.
        if (this.#keys.get(payload.from_session_thread_id) === this.#parents.get(key))
          this.#story.add(key, { kind: 'input', text: toPlainContent(payload.content) });
        return;
      case 'agent.message':
        this.#once(key, payload.id);
        return this.#story.add(key, { kind: 'text', text: toPlainContent(payload.content) });
      case 'agent.thinking': {
        this.#once(key, payload.id);
        const text = payload.block.type === 'thinking' ? payload.block.thinking : '';
        return this.#story.add(key, { kind: 'thinking', text });
      }
      case 'span.model_request_start':
        return this.#story.begin(key);
      case 'span.model_request_end':
        return this.#story.finish(key, !payload.is_error);
      case 'turn.ended':
        if (!payload.ok) this.#story.add(key, { kind: 'ended', text: `${payload.stop_reason} ${payload.error ?? ''}` });
        return;
      case 'session.thread_status_idle':
        // A refusal is not an error of the session: why the model refused is in its status.
        if (payload.stop_details !== null)
          this.#story.add(key, { kind: 'refusal', text: payload.stop_details.explanation ?? '' });
        return;
      case 'agent.thread_context_compacted':
        return this.#story.add(key, { kind: 'compacted', text: '' });
      case 'agent.tool_use':
        this.#refuse(payload);
        return this.#call(key, payload, payload.name);
      case 'agent.custom_tool_use':
        return this.#call(key, payload, payload.name);
      case 'approval.requested':
        return void this.#refused.delete(this.#calls.get(payload.tool_use_id) ?? '');
      case 'user.tool_confirmation':
        // A decision may come before the program asks.
        return void this.#refused.delete(this.#calls.get(payload.tool_use_id) ?? '');
      case 'agent.mcp_tool_use':
        this.#refuse(payload);
        return this.#call(key, payload, payload.called_as);
      case 'agent.tool_result':
        return this.#end(key, payload.tool_use_id, payload);
      case 'agent.mcp_tool_result':
        return this.#end(key, payload.mcp_tool_use_id, payload);
      case 'user.custom_tool_result':
        return this.#end(key, payload.custom_tool_use_id, { ...payload, is_interrupted: false }, true);
      case 'session.error':
        return this.#fail(key, payload);
      default:
        return;
    }
  }

  build(): LogStory {
    return {
      ...this.#story.build(),
      conversations: this.#conversations,
      keys: this.#keys,
      calls: this.#calls,
      refused: this.#refused,
      ownerOf: (callId) => this.#story.ownerOf(callId),
    };
  }

  #once(key: string, id: string): void {
    if (this.#blocks.has(id)) this.#story.problem(`${key}: two blocks with the id ${id}`);
    this.#blocks.add(id);
  }

  #fail(key: string, { retry, error }: Extract<SessionFrame, { type: 'session.error' }>['payload']): void {
    const { message: text, type, reason = '' } = error;
    // A tool server that is away is an error of no request.
    if (type.startsWith('mcp_')) return;
    const kind = retry === 'retrying' ? 'retry' : lost.has(reason) ? 'lost' : 'error';
    this.#story.add(key, { kind, text });
  }

  /** Records a call that never starts: the definition denies it, or the program rejects it without a request for approval. */
  #refuse(call: { call_id: string; evaluated_permission: 'allow' | 'ask' | 'deny'; approval?: 'on_request' }): void {
    const { evaluated_permission: permission, approval } = call;
    if (permission === 'deny' || (permission === 'ask' && approval === 'on_request')) this.#refused.add(call.call_id);
  }

  #call(key: string, call: { id: string; call_id: string; input: unknown }, name: string): void {
    this.#calls.set(call.id, call.call_id);
    this.#story.add(key, { kind: 'call', id: call.call_id, name, input: toSortedJson(call.input), result: null });
  }

  #end(
    key: string,
    eventId: string,
    result: { readonly content: unknown; readonly is_error: boolean; readonly is_interrupted: boolean },
    isGiven = false,
  ): void {
    this.#story.end(key, this.#calls.get(eventId) ?? eventId, {
      isError: result.is_error,
      isInterrupted: result.is_interrupted,
      content: toPlainContent(result.content),
      ...(isGiven ? { isGiven } : {}),
    });
  }
}

/** Errors that the server reports about a lost program. They are not in a transcript. */
const lost: ReadonlySet<string> = new Set(['program_lost', 'program_work_lost', 'restarted']);

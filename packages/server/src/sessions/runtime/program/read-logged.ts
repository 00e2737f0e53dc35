import { type LoggedThread, toSaidDigest } from '../../../engines/program/ended-conversation.ts';
import { MAIN } from '../../../engines/program/program.ts';
import { type SessionFrame, toSessionFrame } from '../../../frames/frames.ts';
import { readBatches } from '../../../log/read-batches.ts';
import type { Store } from '../../../store/store.ts';
import { listProgramRoots, listProgramThreads } from '../../core/state/program-threads.ts';
import { openCallsOf, type SessionState, type ThreadState, threadOf } from '../../core/state/state.ts';

/**
 * Reads the logged content of the threads of each program of a session, by the root of the program, with names that can be compared with its
 * transcripts. Only threads with an open turn are read: nothing can be added to the others.
 */
export async function readLogged(store: Pick<Store, 'read'>, state: SessionState): Promise<LoggedPrograms> {
  const contents = new Map<string, Content>();
  for (const { id, turn } of state.threads.values()) if (turn !== null) contents.set(id, new Content());
  for await (const entries of readBatches(store, state.id, 0, { skipsDeltas: true })) {
    for (const entry of entries) {
      if (entry.kind === 'pruned') continue;
      const frame = toSessionFrame(entry.value);
      contents.get(frame.threadId ?? '')?.add(frame);
    }
  }
  const toLogged = (thread: ThreadState): LoggedThread => {
    const parent = thread.programKey === null ? null : threadOf(state, thread.parentId!);
    const { agentName, programCall: callId } = thread;
    const open = contents.get(thread.id)?.toLogged(thread) ?? null;
    return { agentName, parentKey: parent === null ? null : keyOf(parent), callId, open };
  };
  return new Map(
    listProgramRoots(state).map((root) => [
      root.id,
      new Map(listProgramThreads(state, root).map((thread) => [keyOf(thread), toLogged(thread)])),
    ]),
  );
}

/** The threads of each program, by their keys. */
export type LoggedPrograms = ReadonlyMap<string, ReadonlyMap<string, LoggedThread>>;

function keyOf({ programKey }: ThreadState): string {
  return programKey ?? MAIN;
}

/** The logged content of one thread. */
class Content {
  readonly #said = new Map<string, number>();
  /** The model's id of each call, by the id of its event. */
  readonly #calls = new Map<string, string>();
  readonly #results = new Set<string>();

  add({ type, payload }: SessionFrame): void {
    switch (type) {
      case 'agent.message':
        for (const { text } of payload.content) this.#say('text', text);
        return;
      case 'agent.thinking':
      case 'agent.block': {
        const { block } = payload;
        if (block.type === 'thinking') this.#say('thinking', block.thinking);
        else if (block.type === 'opaque') this.#say('opaque', String((block.raw as { type?: unknown }).type));
        else this.#say('opaque', block.type);
        return;
      }
      case 'agent.tool_use':
      case 'agent.mcp_tool_use':
      case 'agent.custom_tool_use':
        this.#calls.set(payload.id, payload.call_id);
        return;
      case 'agent.tool_result':
        return this.#end(payload.tool_use_id);
      case 'agent.mcp_tool_result':
        return this.#end(payload.mcp_tool_use_id);
      case 'user.custom_tool_result':
        return payload.not_applied === undefined ? this.#end(payload.custom_tool_use_id) : undefined;
      default:
    }
  }

  toLogged(thread: ThreadState): NonNullable<LoggedThread['open']> {
    const phase = thread.turn?.phase;
    const open = openCallsOf(thread);
    const waiting = open.filter(({ progress }) => WAITING.has(progress.type));
    // Whether the program received the result of a custom tool is only in its transcript.
    for (const { kind, callId } of thread.calls.values()) if (kind === 'custom') this.#results.delete(callId);
    return {
      hasRequest: phase?.type === 'program' && phase.startId !== null,
      said: this.#said,
      calls: new Set(this.#calls.values()),
      inputs: new Map(open.map(({ callId, input }) => [callId, input])),
      results: this.#results,
      waiting: new Set(waiting.map(({ callId }) => callId)),
    };
  }

  #say(kind: 'text' | 'thinking' | 'opaque', content: string): void {
    const digest = toSaidDigest(kind, content);
    this.#said.set(digest, (this.#said.get(digest) ?? 0) + 1);
  }

  #end(toolUseId: string): void {
    const callId = this.#calls.get(toolUseId);
    if (callId !== undefined) this.#results.add(callId);
  }
}

const WAITING: ReadonlySet<string> = new Set(['asking', 'outside']);

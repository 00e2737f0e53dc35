import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { RecentMap } from '../../../../base/collections/recent-map.ts';
import { programLimits } from '../../limits.ts';
import { nameIn, text, toJson } from '../../lines/values.ts';
import { MAIN, type ProgramEvent } from '../../program.ts';
import type { Fields } from '../../lines/json-rpc-line.ts';
import type { ThreadFold } from './thread-fold.ts';

/** The agents of a session, and the callbacks for new threads. */
export interface SubAgentsOptions {
  readonly agent: AgentSnapshot;
  readonly members: readonly AgentSnapshot[];
  /** Sub-agents of an earlier process of the conversation, by their thread ids. */
  readonly known: readonly { readonly key: string; readonly callId: string }[];
  /**
   * Requests the facts of a new thread from the program; `describe` is called with the response. Without it the roles of sub-agents are not
   * known.
   */
  readonly readThread?: ((threadId: string) => void) | undefined;
  /** The key of an open thread; undefined for other threads. */
  readonly keyOf: (threadId: string) => string | undefined;
  readonly mainModel: () => string;
  /** Opens a thread; `agent` is the definition that applies to it. */
  readonly open: (thread: { readonly threadId: string; readonly model: string; readonly agent: AgentSnapshot }) => void;
  readonly emit: (event: ProgramEvent) => void;
}

/** The facts that the program reports about a thread. */
export interface ThreadFacts {
  readonly nickname: string | null;
  /** The name of the thread's role in the configuration. */
  readonly role: string | null;
  readonly model: string | null;
  /** The id of the parent thread. */
  readonly parent: string | null;
}

/**
 * The sub-agents of a session, in both versions of Codex's multi-agent tools. The program does not announce them: version 1 names
 * a thread in the result of the call that made it, version 2 in an item whose id is that of the call.
 */
export class SubAgents {
  readonly #options: SubAgentsOptions;
  /** Threads that an item has named and that the program has not described yet. */
  readonly #awaited = new Map<string, NewThread>();
  /** The last message to each sub-agent, for its next run. */
  readonly #prompts = new RecentMap<string>({
    entriesMax: programLimits.programKeptNamesMax,
    sizeMax: programLimits.programKeptCharsMax,
    sizeOf: (prompt) => prompt.length,
  });
  /** Announced threads whose first turn has not begun. */
  readonly #firstRuns = new Set<string>();

  constructor(options: SubAgentsOptions) {
    this.#options = options;
  }

  /** Takes the item of a call of version 1, or of a wait of version 2. */
  takeCall(fold: ThreadFold, item: Fields, isComplete: boolean): void {
    const targets: readonly unknown[] = Array.isArray(item['receiverThreadIds']) ? item['receiverThreadIds'] : [];
    const prompt = text(item['prompt']);
    if (prompt === undefined) return;
    for (const threadId of targets.map(nameIn).filter((target) => target !== undefined)) {
      if (item['tool'] !== 'spawnAgent') this.#prompts.set(threadId, prompt);
      else if (isComplete && this.#isNew(threadId)) {
        const callId = fold.callOf(nameIn(item['id']) ?? '')?.callId ?? null;
        const model = text(item['model']) ?? fold.model;
        this.#announce(threadId, { parentKey: fold.key, callId, prompt, model, name: null });
      }
    }
  }

  /** Takes an activity item of version 2. The call does not have an item of its own, so it is made up from the activity. */
  takeActivity(fold: ThreadFold, item: Fields): void {
    const [threadId, id] = [nameIn(item['agentThreadId']), nameIn(item['id']) ?? ''];
    if (item['kind'] !== 'started' || threadId === undefined || !this.#isNew(threadId)) return;
    const name = text(item['agentPath'])?.split('/').at(-1) ?? 'agent';
    const input = { task_name: toJson(item['agentPath']) };
    const callId = fold.addCall(id, { name: 'spawn_agent', input, tool: { kind: 'agent' } });
    const model = text(item['model']) ?? fold.model;
    this.#announce(threadId, { parentKey: fold.key, callId, prompt: null, model, name });
    this.#options.emit({ key: fold.key, type: 'result', callId, content: [], isError: false });
  }

  /** Announces a sub-agent of an earlier process again when it begins a turn. */
  resume(threadId: string): void {
    const known = this.#options.known.find(({ key }) => key === threadId);
    if (known === undefined || !this.#isNew(threadId)) return;
    const prompt = this.#takePrompt(threadId);
    const model = this.#options.mainModel();
    this.#announce(threadId, { parentKey: MAIN, callId: known.callId, prompt, model, name: null });
  }

  /** Takes the response to `readThread`; null if the program does not know the thread. */
  describe(threadId: string, facts: ThreadFacts | null): void {
    const awaited = this.#awaited.get(threadId);
    this.#awaited.delete(threadId);
    if (awaited !== undefined) this.#begin(threadId, awaited, facts);
  }

  /** Begins a run of a sub-agent. Null for the first run, which began with the announcement. */
  startRun(threadId: string): { readonly prompt: string | null } | null {
    return this.#firstRuns.delete(threadId) ? null : { prompt: this.#takePrompt(threadId) };
  }

  #isNew(threadId: string): boolean {
    return this.#options.keyOf(threadId) === undefined && !this.#awaited.has(threadId);
  }

  #announce(threadId: string, thread: NewThread): void {
    const { readThread } = this.#options;
    if (readThread === undefined) return this.#begin(threadId, thread, null);
    // Each awaited thread is a request that the program may leave unanswered.
    if (this.#awaited.size >= programLimits.codexAwaitedMax) return;
    this.#awaited.set(threadId, thread);
    readThread(threadId);
  }

  #begin(threadId: string, thread: NewThread, facts: ThreadFacts | null): void {
    const { agent, members, emit, keyOf, open } = this.#options;
    const { prompt, callId, name } = thread;
    const member = members.find((one) => one.name === (facts?.role ?? name));
    const agentName = member?.name ?? name ?? facts?.nickname ?? facts?.role ?? 'agent';
    const description = name ?? facts?.nickname ?? null;
    const parentKey = keyOf(facts?.parent ?? '') ?? thread.parentKey;
    this.#firstRuns.add(threadId);
    emit({ key: threadId, type: 'thread_opened', parentKey, agentName, description, prompt, callId });
    open({ threadId, model: facts?.model ?? thread.model, agent: member ?? agent });
  }

  #takePrompt(threadId: string): string | null {
    const prompt = this.#prompts.get(threadId) ?? null;
    this.#prompts.delete(threadId);
    return prompt;
  }
}

/** The facts of a sub-agent in the item that names it. */
interface NewThread {
  readonly parentKey: string;
  readonly callId: string | null;
  readonly prompt: string | null;
  readonly model: string;
  readonly name: string | null;
}

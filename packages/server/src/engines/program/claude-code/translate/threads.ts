import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { type AgentEvent, UNRESOLVED } from '@fleetloom/protocol/stream-json';
import { MAIN, type ProgramEvent, type ThreadOpened } from '../../program.ts';
import { type ToolPolicy, toToolPolicy } from '../approvals/tool-policy.ts';
import { WORKFLOW_AGENT } from '../transcript/workflows.ts';

interface Known {
  key: string;
  /** The program's id of the task; null until a line has it. */
  taskId: string | null;
  parent: string;
  agentName: string | null;
  description: string | null;
  prompt: string | null;
  callId: string | null;
  isOpened: boolean;
}

/** The agents of a program, with their keys in events and their tool policies. */
export class Threads {
  readonly #main: ToolPolicy;
  readonly #members: ReadonlyMap<string, ToolPolicy>;
  /** Agents by the translator's thread name. */
  readonly #known = new Map<string, Known>();
  readonly #running = new Set<string>();
  /** Agents that were announced before the call that started them, by the translator's thread name. */
  readonly #early = new Set<string>();
  readonly #opened = new Set<string>();

  constructor(agent: AgentSnapshot, members: readonly AgentSnapshot[]) {
    this.#main = toToolPolicy(agent);
    this.#members = new Map(members.map((member) => [member.name, toToolPolicy(member)]));
  }

  get areResting(): boolean {
    return this.#running.size === 0;
  }

  /** The key of a thread: `main` or its task id, by which the program addresses the agent, in its next process too. */
  keyOf(thread: string): string {
    return this.#known.get(thread)?.key ?? thread;
  }

  /** Whether the thread was opened and has not ended since. */
  isRunning(key: string): boolean {
    return this.#opened.has(key) && this.#running.has(key);
  }

  /** The call that started the agent. */
  callOf(thread: string): string | null {
    return this.#known.get(thread)?.callId ?? null;
  }

  /** The program's task id of an agent. */
  taskOf(key: string): string {
    return [...this.#known.values()].find((known) => known.key === key)?.taskId ?? key;
  }

  /** The tool policy of an agent. The program's built-in agent types have the policy of the main agent. */
  policyOf(thread: string): ToolPolicy {
    return this.#members.get(this.#known.get(thread)?.agentName ?? '') ?? this.#main;
  }

  learn(event: Extract<AgentEvent, { type: 'thread_start' | 'thread_update' }>): void {
    const known = this.#known.get(event.thread) ?? create(event.thread);
    this.#known.set(event.thread, known);
    if (!known.isOpened && event.taskId !== undefined) known.key = event.taskId;
    known.taskId = event.taskId ?? known.taskId;
    known.parent = event.parent ?? known.parent;
    known.agentName = event.agentType ?? known.agentName;
    known.description = event.description ?? known.description;
    known.prompt = event.prompt ?? known.prompt;
    known.callId = event.toolUseId ?? known.callId;
  }

  /**
   * Merges two entries that are one agent: one was known by its task, the other by its lines. If only one was reported, it keeps
   * everything; if both were, the agent continues under the task, and the key of the other is returned, whose thread has ended. No
   * known release does this, because each reports a task with its call before anything else of the agent.
   */
  merge(task: string, lines: string): string | undefined {
    const one = this.#known.get(task);
    const other = this.#known.get(lines);
    if (one === undefined || other === undefined || one === other) return undefined;
    const kept = other.isOpened && !one.isOpened ? other : one;
    const gone = kept === one ? other : one;
    kept.parent = kept.parent === UNRESOLVED ? gone.parent : kept.parent;
    kept.agentName ??= gone.agentName;
    kept.description ??= gone.description;
    kept.prompt ??= gone.prompt;
    kept.callId ??= gone.callId;
    kept.taskId ??= gone.taskId;
    this.#known.set(task, kept).set(lines, kept);
    if (this.#running.delete(gone.key)) this.#running.add(kept.key);
    return gone.isOpened ? gone.key : undefined;
  }

  /** Begins a run. The first run opens the thread; if its parent is not known yet, the thread opens when it is. */
  start(thread: string, run: number, prompt: string | null): ProgramEvent[] {
    const known = this.#known.get(thread);
    if (known === undefined) return [];
    this.#running.add(known.key);
    if (run > 0 && known.isOpened) return [{ type: 'thread_started', key: known.key, prompt }];
    if (known.parent !== UNRESOLVED) return this.open(thread);
    this.#early.add(thread);
    return [];
  }

  /** Opens threads whose starting call was taken in the meantime, now because the agent that made the call may end before the next line. */
  openAdopted(): ProgramEvent[] {
    const adopted = [...this.#early].filter((thread) => this.#known.get(thread)?.parent !== UNRESOLVED);
    return adopted.flatMap((thread) => this.open(thread));
  }

  /** Opens the thread of an agent, and the threads above it, before an event of it is emitted. */
  open(thread: string): ProgramEvent[] {
    const known = this.#known.get(thread);
    this.#early.delete(thread);
    if (known === undefined || known.isOpened) return [];
    known.isOpened = true;
    this.#opened.add(known.key);
    this.#running.add(known.key);
    const parent = known.parent === UNRESOLVED ? MAIN : known.parent;
    const opened: ThreadOpened = {
      type: 'thread_opened',
      parentKey: this.keyOf(parent),
      agentName: this.#nameOf(known),
      description: known.description,
      prompt: known.prompt,
      callId: known.callId,
    };
    return [...this.open(parent), { key: known.key, ...opened }];
  }

  /** Like `open`, by the program's task id. */
  openTask(taskId: string): ProgramEvent[] {
    const [thread] = [...this.#known].find(([, known]) => known.taskId === taskId) ?? [];
    return thread === undefined ? [] : this.open(thread);
  }

  /** The name of an agent. Agents of a workflow have labels, which are ignored if they equal a name in the roster: the agent is not that member. */
  #nameOf({ agentName, description }: Known): string {
    const isLabelled = agentName === WORKFLOW_AGENT && description !== null && !this.#members.has(description);
    return isLabelled ? description : (agentName ?? 'agent');
  }

  end(thread: string): void {
    this.#running.delete(this.keyOf(thread));
  }
}

function create(thread: string): Known {
  return {
    key: thread,
    taskId: null,
    parent: UNRESOLVED,
    agentName: null,
    description: null,
    prompt: null,
    callId: null,
    isOpened: false,
  };
}

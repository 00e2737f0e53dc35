import type { AgentSnapshot } from '@fleetloom/protocol/managed-agents';
import { type AgentEvent, UNRESOLVED } from '@fleetloom/protocol/stream-json';
import { MAIN, type ProgramEvent, type ThreadOpened } from '../../program.ts';
import { type ToolPolicy, toToolPolicy } from '../approvals/tool-policy.ts';
import { WORKFLOW_AGENT } from '../transcript/workflows.ts';

interface Known {
  key: string;
  /** How the program names it, as soon as it has said so. */
  taskId: string | null;
  parent: string;
  agentName: string | null;
  description: string | null;
  prompt: string | null;
  callId: string | null;
  isOpened: boolean;
}

/** The agents of a program: by what name we know them, and what they may use. */
export class Threads {
  readonly #main: ToolPolicy;
  readonly #members: ReadonlyMap<string, ToolPolicy>;
  /** By how the translator names them. */
  readonly #known = new Map<string, Known>();
  readonly #running = new Set<string>();
  /** Agents that were announced before the call that made them, by how the translator names them. */
  readonly #early = new Set<string>();
  readonly #opened = new Set<string>();

  constructor(agent: AgentSnapshot, members: readonly AgentSnapshot[]) {
    this.#main = toToolPolicy(agent);
    this.#members = new Map(members.map((member) => [member.name, toToolPolicy(member)]));
  }

  get areResting(): boolean {
    return this.#running.size === 0;
  }

  /** `main`, or its task: that is how the program names it when it speaks to it, also in its next process. */
  keyOf(thread: string): string {
    return this.#known.get(thread)?.key ?? thread;
  }

  /** Whether the thread was emitted and has not ended since. */
  isRunning(key: string): boolean {
    return this.#opened.has(key) && this.#running.has(key);
  }

  /** The call that made it. */
  callOf(thread: string): string | null {
    return this.#known.get(thread)?.callId ?? null;
  }

  /** The program's own name of it. */
  taskOf(key: string): string {
    return [...this.#known.values()].find((known) => known.key === key)?.taskId ?? key;
  }

  /** The program's own kinds of agents have what the main agent has. */
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
   * Two agents turn out to be one: one was known by its task, the other by its lines. If only one was reported, it keeps
   * everything; if both were, the work continues under the task, and the key of the other is returned: it has ended. No
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

  /** A run begins. The first one opens the thread; if its parent is not known yet, that is waited for. */
  start(thread: string, run: number, prompt: string | null): ProgramEvent[] {
    const known = this.#known.get(thread);
    if (known === undefined) return [];
    this.#running.add(known.key);
    if (run > 0 && known.isOpened) return [{ type: 'thread_started', key: known.key, prompt }];
    if (known.parent !== UNRESOLVED) return this.open(thread);
    this.#early.add(thread);
    return [];
  }

  /** The call that made an agent was taken: its thread opens now, because the agent that made the call may end before the next line. */
  openAdopted(): ProgramEvent[] {
    const adopted = [...this.#early].filter((thread) => this.#known.get(thread)?.parent !== UNRESOLVED);
    return adopted.flatMap((thread) => this.open(thread));
  }

  /** It does something, so it has to be there. */
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

  /** As `open`, by the program's own name of the agent. */
  openTask(taskId: string): ProgramEvent[] {
    const [thread] = [...this.#known].find(([, known]) => known.taskId === taskId) ?? [];
    return thread === undefined ? [] : this.open(thread);
  }

  /** Agents of a workflow have labels. A label that is a name of the roster would show a member that the agent is not. */
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

import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { programLimits } from '../../limits.ts';
import type { Cancel, Schedule } from '../../../../base/schedule.ts';
import { record, text } from '../../lines/values.ts';

/** The type of workflow agents for which the script does not name one. */
export const WORKFLOW_AGENT = 'workflow-subagent';

/** Options of reading workflows. */
export interface WorkflowsOptions {
  readonly schedule: Schedule;
  /** Takes a permission request that has waited for its agent as long as the limit allows. */
  readonly onLate: (request: StreamJsonMessage) => void;
}

interface WaitingRequest {
  readonly agentId: string;
  readonly line: StreamJsonMessage;
  readonly cancel: Cancel;
}

/**
 * A workflow is a script of the main agent that starts agents. The program prints task lines of the workflow only, in which
 * it lists the agents: they become the task lines of a sub-agent for the workflow and of one for each of its agents.
 */
export class Workflows {
  readonly #options: WorkflowsOptions;
  /** Running workflows, and for each of their agents whether it runs. */
  readonly #running = new Map<string, Map<string, { isOpen: boolean }>>();
  /** Other tasks that lines have announced. */
  readonly #tasks = new Set<string>();
  /** Permission requests of agents that no line has listed yet, by request id. */
  readonly #waiting = new Map<string, WaitingRequest>();

  constructor(options: WorkflowsOptions) {
    this.#options = options;
  }

  /** The lines to take in place of this one. */
  expand(line: StreamJsonMessage): readonly StreamJsonMessage[] {
    if (line.type === 'control_request') return this.#holdRequest(line) ? [] : [line];
    if (line.type === 'control_cancel_request') return this.#dropRequest(text(line['request_id'])) ? [] : [line];
    const taskId = line.type === 'system' ? text(line['task_id']) : undefined;
    if (taskId === undefined) return [line];
    if (line['task_type'] === 'local_workflow') {
      this.#running.set(taskId, new Map());
      return [{ ...line, task_type: 'local_agent', subagent_type: text(line['workflow_name']) ?? 'workflow' }];
    }
    const agents = this.#running.get(taskId);
    if (agents === undefined) {
      if (line.subtype === 'task_started') this.#announced(taskId);
      return [line];
    }
    if (line.subtype === 'task_progress') return [...this.#listed(line, taskId, agents), line];
    const status = text(record(line['patch'])?.['status']) ?? text(line['status']);
    if (status === undefined || !ENDS.has(status)) return [line];
    const open = [...agents].filter(([, { isOpen }]) => isOpen).map(([agentId]) => toEnd(line, agentId, status));
    this.#running.delete(taskId);
    return [...open, line, ...this.#releaseAll()];
  }

  /** The task to stop for an agent: agents of a workflow stop with the workflow. */
  taskOf(taskId: string): string {
    return [...this.#running].find(([, agents]) => agents.has(taskId))?.[0] ?? taskId;
  }

  #announced(taskId: string): void {
    this.#tasks.add(taskId);
    const [oldest] = this.#tasks;
    if (this.#tasks.size > programLimits.transcriptFilesMax && oldest !== undefined) this.#tasks.delete(oldest);
  }

  /** Cancels all timers. */
  close(): void {
    this.#releaseAll();
  }

  #listed(line: StreamJsonMessage, workflowId: string, agents: Map<string, { isOpen: boolean }>): StreamJsonMessage[] {
    const listed = line['workflow_progress'];
    return (Array.isArray(listed) ? listed : []).flatMap((value: unknown) => {
      const entry = record(value) ?? {};
      const agentId = text(entry['agentId']);
      // An agent that waits for its start has no id yet, and a cached one ran in an earlier workflow.
      if (agentId === undefined || entry['type'] !== 'workflow_agent' || entry['cached'] === true) return [];
      const known = agents.get(agentId);
      const agent = known ?? { isOpen: true };
      if (known === undefined && agents.size >= programLimits.transcriptFilesMax) return [];
      agents.set(agentId, agent);
      const started = known === undefined ? [toStart(line, workflowId, agentId, entry), ...this.#release(agentId)] : [];
      if (!agent.isOpen) return [];
      const state = text(entry['state']);
      agent.isOpen = state !== 'done' && state !== 'error';
      if (agent.isOpen) return [...started, toLine(line, 'task_progress', agentId, {})];
      const ended = toEnd(line, agentId, state === 'done' ? 'completed' : 'failed', text(entry['error']));
      return [...started, ended];
    });
  }

  /** Holds a permission request that comes before the line that lists its agent, because it would have no thread. */
  #holdRequest(line: StreamJsonMessage): boolean {
    const agentId = text(record(line['request'])?.['agent_id']);
    const requestId = text(line['request_id']);
    if (agentId === undefined || requestId === undefined || this.#running.size === 0) return false;
    if (!this.#isUnlisted(agentId)) return false;
    const cancel = this.#options.schedule(() => {
      this.#waiting.delete(requestId);
      this.#options.onLate(line);
    }, programLimits.workflowAgentMs);
    this.#waiting.set(requestId, { agentId, line, cancel });
    return true;
  }

  #isUnlisted(agentId: string): boolean {
    return !this.#tasks.has(agentId) && ![...this.#running.values()].some((agents) => agents.has(agentId));
  }

  #dropRequest(requestId: string | undefined): boolean {
    const waiting = this.#waiting.get(requestId ?? '');
    waiting?.cancel();
    return this.#waiting.delete(requestId ?? '');
  }

  #release(agentId: string): StreamJsonMessage[] {
    return [...this.#waiting].flatMap(([requestId, { agentId: of, line }]) =>
      of === agentId && this.#dropRequest(requestId) ? [line] : [],
    );
  }

  #releaseAll(): StreamJsonMessage[] {
    return [...this.#waiting.values()].flatMap(({ agentId }) => this.#release(agentId));
  }
}

const ENDS: ReadonlySet<string> = new Set(['completed', 'failed', 'killed', 'stopped']);

function toStart(
  line: StreamJsonMessage,
  workflowId: string,
  agentId: string,
  { agentType, label, promptPreview }: Record<string, unknown>,
): StreamJsonMessage {
  const about = { subagent_type: text(agentType) ?? WORKFLOW_AGENT, description: label, prompt: promptPreview };
  return toLine(line, 'task_started', agentId, { task_type: 'local_agent', parent_task_id: workflowId, ...about });
}

function toEnd(line: StreamJsonMessage, agentId: string, status: string, error?: string): StreamJsonMessage {
  return toLine(line, 'task_updated', agentId, { patch: { status, error } });
}

function toLine(
  { session_id: sessionId }: StreamJsonMessage,
  subtype: string,
  task_id: string,
  fields: object,
): StreamJsonMessage {
  const session = sessionId === undefined ? {} : { session_id: sessionId };
  return { type: 'system', subtype, task_id, is_workflow_agent: true, ...session, ...fields };
}

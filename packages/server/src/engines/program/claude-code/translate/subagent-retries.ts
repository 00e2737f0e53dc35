import { MAIN, type ProgramRetry } from '../../program.ts';
import type { AnswerFailure, GatewayEvent } from '../../gateway/events.ts';
import { number, record, text } from '../../lines/values.ts';

interface AgentRetries {
  /** The failure of the agent's last request, until the next request begins. */
  failure: AnswerFailure | null;
  /** Numbers of retries that lines reported, that the gateway saw, and that were emitted. */
  byLines: number;
  byGateway: number;
  emitted: number;
}

/**
 * Retries of sub-agents. 2.1.325 prints a line for each retry of a foreground agent. For background agents, and in 2.1.197 for all
 * agents, only the gateway sees that a request failed and was sent again. Both sources count, and the one that is ahead emits, so that
 * each retry is emitted once even if the lines lag behind the gateway.
 */
export class SubagentRetries {
  readonly #agents = new Map<string, AgentRetries>();

  /** Reads a `tool_progress` line; null if it does not report a new retry. `key` is the sub-agent of the retry. */
  takeLine(line: Record<string, unknown>): { readonly key: string; readonly retry: ProgramRetry } | null {
    const reported = record(line['subagent_retry']);
    const key = text(reported?.['agent_id']);
    if (reported === undefined || key === undefined) return null;
    const agent = this.#agentOf(key);
    agent.byLines++;
    const retry = toRetry({ ...reported, error: reported['error_category'] });
    return this.#isNew(agent, agent.byLines) ? { key, retry } : null;
  }

  takeTapped({ agentId, event }: GatewayEvent): ProgramRetry | null {
    const agent = this.#agentOf(agentId ?? MAIN);
    if (event.type === 'failed') agent.failure = isRetried(event.failure) ? event.failure : null;
    if (event.type !== 'requested' || agent.failure === null) return null;
    const { status, message } = agent.failure;
    agent.failure = null;
    agent.byGateway++;
    // The request is being sent again at this moment.
    return this.#isNew(agent, agent.byGateway)
      ? { type: 'retry', message, status, delayMs: 0, retriesMax: null }
      : null;
  }

  /** Forgets the failure of an agent that has ended: its next request, after a resume, is not a retry. */
  ended(key: string): void {
    const agent = this.#agents.get(key);
    if (agent !== undefined) agent.failure = null;
  }

  #isNew(agent: AgentRetries, count: number): boolean {
    if (count <= agent.emitted) return false;
    agent.emitted = count;
    return true;
  }

  #agentOf(key: string): AgentRetries {
    const agent = this.#agents.get(key) ?? { failure: null, byLines: 0, byGateway: 0, emitted: 0 };
    this.#agents.set(key, agent);
    return agent;
  }
}

/** Reads the retry of an `api_retry` line, or of the same fields in a `tool_progress` line. */
export function toRetry(line: Record<string, unknown>): ProgramRetry {
  return {
    type: 'retry',
    message: text(line['error']) ?? 'the request failed',
    status: number(line['error_status']) ?? null,
    delayMs: number(line['retry_delay_ms']) ?? 0,
    retriesMax: number(line['max_retries']) ?? null,
  };
}

/** Whether the program sends a failed request again. After other failures the agent fails, or its next request is a new one. */
function isRetried({ reason, status }: AnswerFailure): boolean {
  if (reason === 'broken') return true;
  return reason === 'refused' && (status === null || status >= 500 || [401, 408, 409, 429].includes(status));
}

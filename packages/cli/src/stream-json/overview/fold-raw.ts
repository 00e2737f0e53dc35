import type { Agent, Overview } from './overview.ts';

/** Events that the library does not interpret: blocks of other types are counted, retried requests are shown. */
export function noteRaw(overview: Overview, agent: Agent, kind: string, value: unknown): void {
  if (kind.startsWith('block/')) agent.blocks += 1;
  const fields = value as { attempt?: unknown; max_retries?: unknown; subagent_retry?: Retry } | null;
  if (kind === 'system/api_retry') noteRetry(agent, fields ?? {});
  const retry = kind === 'tool_progress' ? fields?.subagent_retry : undefined;
  if (retry) noteRetry(overview.agents.get(String(retry.agent_id)) ?? agent, retry);
}

interface Retry {
  agent_id?: unknown;
  attempt?: unknown;
  max_retries?: unknown;
}

function noteRetry(agent: Agent, retry: Retry): void {
  if (typeof retry.attempt !== 'number') return;
  agent.activity = { type: 'retry', attempt: retry.attempt };
  if (typeof retry.max_retries === 'number') agent.activity.attemptsMax = retry.max_retries;
}

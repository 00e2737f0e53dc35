import type { Agent, Overview } from './overview.ts';

/** What the library does not interpret: blocks of other kinds are counted, and requests that are tried again are told. */
export function noteRaw(overview: Overview, agent: Agent, kind: string, value: unknown): void {
  if (kind.startsWith('block/')) agent.blocks += 1;
  const told = value as { attempt?: unknown; max_retries?: unknown; subagent_retry?: Retry } | null;
  if (kind === 'system/api_retry') noteRetry(agent, told ?? {});
  const retry = kind === 'tool_progress' ? told?.subagent_retry : undefined;
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

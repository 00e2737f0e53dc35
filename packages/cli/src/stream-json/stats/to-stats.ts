import { agentDurationMs, agentTokens, isRunning } from '../overview/agent-facts.ts';
import { type Agent, MAIN, type Overview } from '../overview/overview.ts';

/** The output of `stats --json`. Null for figures that the stream does not contain. */
export interface Stats {
  schema_version: 1;
  session_id: string | null;
  model: string | null;
  turns: number;
  open_turns: number;
  unreadable_lines: number;
  agents: AgentStats[];
  total: TotalStats;
}

export interface AgentStats {
  thread: string;
  parent: string | null;
  depth: number;
  type: string | null;
  description: string | null;
  status: string;
  runs: number;
  blocks: number;
  tool_calls: number;
  tool_calls_failed: number;
  /** For the main agent, all input and output tokens. For sub-agents, the figure of Claude Code, which is the size of the last request. */
  tokens: number | null;
  duration_ms: number | null;
}

/** Sums over all agents. */
export interface TotalStats {
  agents: number;
  blocks: number;
  tool_calls: number;
  tool_calls_failed: number;
  /** Input tokens of all requests of all agents; more than the sum of the column, which counts only last requests. */
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  duration_ms: number | null;
}

export function toStats(overview: Overview): Stats {
  const agents = [...overview.agents.values()].map((agent) => toAgentStats(overview, agent));
  const sum = (field: 'blocks' | 'tool_calls' | 'tool_calls_failed') =>
    agents.reduce((total, agent) => total + agent[field], 0);
  return {
    schema_version: 1,
    session_id: overview.sessionId ?? null,
    model: overview.model ?? null,
    turns: overview.turnsEnded,
    open_turns: Math.max(0, overview.turnsStarted - overview.turnsEnded),
    unreadable_lines: overview.unreadableLines,
    agents,
    total: {
      agents: agents.length,
      blocks: sum('blocks'),
      tool_calls: sum('tool_calls'),
      tool_calls_failed: sum('tool_calls_failed'),
      input_tokens: overview.totals.inputTokens ?? null,
      output_tokens: overview.totals.outputTokens ?? null,
      cost_usd: overview.totals.costUsd ?? null,
      duration_ms: overview.totals.durationMs ?? null,
    },
  };
}

function toAgentStats(overview: Overview, agent: Agent): AgentStats {
  return {
    thread: agent.key,
    parent: agent.parent,
    depth: agent.depth,
    type: agent.type ?? null,
    description: agent.description ?? null,
    status: statusOf(overview, agent),
    runs: agent.key === MAIN ? overview.turnsEnded : agent.runs,
    blocks: agent.blocks,
    tool_calls: agent.calls,
    tool_calls_failed: agent.failedCalls,
    tokens: (agent.key === MAIN ? overview.totals.mainTokens : agentTokens(agent)) ?? null,
    duration_ms: agentDurationMs(overview, agent) ?? null,
  };
}

/** The status of an agent as on the wire, also for the main agent. */
function statusOf(overview: Overview, agent: Agent): string {
  if (isRunning(overview, agent)) return 'running';
  if (agent.key !== MAIN) return agent.status ?? 'running';
  return overview.lastTurn?.isError ? 'failed' : 'completed';
}

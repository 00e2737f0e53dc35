import { addEntry, detach } from './entries.ts';
import type { Agent, Overview } from './overview.ts';

/** Two agents turned out to be the same: moves the entries and questions of the first to the second. */
export function mergeAgents(overview: Overview, from: Agent, key: string): void {
  const to = overview.agents.get(key);
  if (!to || to === from) return;
  detach(overview, from);
  overview.agents.delete(from.key);
  for (const agent of overview.agents.values()) if (agent.parent === from.key) agent.parent = to.key;
  for (const open of overview.openCalls.values()) if (open.agent === from) open.agent = to;
  const entries = to.entries;
  to.entries = [];
  for (const entry of [...from.entries, ...entries]) addEntry(to, entry);
  for (const id of from.openCalls) to.openCalls.add(id);
  for (const [id, request] of from.openRequests) to.openRequests.set(id, request);
  for (const [run, usage] of from.usageByRun) to.usageByRun.set(run, usage);
  to.hasAgents ||= from.hasAgents;
  to.blocks += from.blocks;
  to.calls += from.calls;
  to.failedCalls += from.failedCalls;
  to.runs += from.runs;
  if (to.type === undefined && from.type !== undefined) to.type = from.type;
  if (to.description === undefined && from.description !== undefined) to.description = from.description;
  if (to.status === 'running' && from.status !== undefined) to.status = from.status;
}

import type { Session, SessionThread } from '@fleetloom/protocol/managed-agents';
import type { ServerApi } from '../connection/server-api.ts';

/** What the fleet stream does not tell about a session. */
export interface SessionFacts {
  /** What it may cost, if it has a bound. */
  readonly budgetUsd: number | null;
  readonly customTools: CustomTools;
}

/** By thread: the tools that somebody outside has to run. */
export type CustomTools = ReadonlyMap<string, ReadonlySet<string>>;

export const noFacts: SessionFacts = { budgetUsd: null, customTools: new Map() };

export async function readFacts(api: ServerApi, sessionId: string): Promise<SessionFacts> {
  const path = `/v1/sessions/${encodeURIComponent(sessionId)}`;
  const { budget } = await api.get<Session>(path);
  const customTools = new Map<string, ReadonlySet<string>>();
  for await (const { id, agent } of api.list<SessionThread>(`${path}/threads`)) {
    const names = agent.tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name] : []));
    if (names.length > 0) customTools.set(id, new Set(names));
  }
  return { budgetUsd: budget === null ? null : Number(budget.max_list_cost.amount) / 100, customTools };
}

import type { Session, SessionThread } from '@fleetloom/protocol/managed-agents';
import type { ServerApi } from '../../connection/server-api.ts';

/** Facts about a session that are not on the fleet stream. */
export interface SessionFacts {
  /** The budget, if there is one. */
  readonly budgetUsd: number | null;
  readonly customTools: CustomTools;
}

/** By thread: custom tools, which the client runs. */
export type CustomTools = ReadonlyMap<string, ReadonlySet<string>>;

/** What is known before the session was read. */
export const noFacts: SessionFacts = { budgetUsd: null, customTools: new Map() };

/** Reads the budget, and the custom tools of each thread. */
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

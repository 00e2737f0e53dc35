import { type FleetSessionList, toShortId } from '@fleetloom/protocol/fleet';
import type { Session, SessionThread } from '@fleetloom/protocol/managed-agents';
import type { ServerApi } from '../../connection/server-api.ts';

/** Facts about a session that are not on the fleet stream. */
export interface SessionFacts {
  /** The name that the list of sessions shows; null until it is known. */
  readonly name: string | null;
  /** The budget, if there is one. */
  readonly budgetUsd: number | null;
  readonly customTools: CustomTools;
}

/** The custom tools of each thread, which the client runs. */
export type CustomTools = ReadonlyMap<string, ReadonlySet<string>>;

/** The facts before the session was read. */
export const noFacts: SessionFacts = { name: null, budgetUsd: null, customTools: new Map() };

/** Reads the budget, and the custom tools of each thread. */
export async function readFacts(api: ServerApi, sessionId: string): Promise<SessionFacts> {
  const path = `/v1/sessions/${encodeURIComponent(sessionId)}`;
  const { budget, title } = await api.get<Session>(path);
  const name = title === null ? await readName(api, sessionId) : title;
  const customTools = new Map<string, ReadonlySet<string>>();
  for await (const { id, agent } of api.list<SessionThread>(`${path}/threads`)) {
    const names = agent.tools.flatMap((tool) => (tool.type === 'custom' ? [tool.name] : []));
    if (names.length > 0) customTools.set(id, new Set(names));
  }
  return {
    name: name ?? null,
    budgetUsd: budget === null ? null : Number(budget.max_list_cost.amount) / 100,
    customTools,
  };
}

/** The name of a session without a title: its first words. Null if the name cannot be read; the id is then shown. */
async function readName(api: ServerApi, sessionId: string): Promise<string | null> {
  const query = { q: toShortId(sessionId), archived: 'true', limit: 1 };
  const listed = await api.get<FleetSessionList>('/v1/fleet/sessions', query).catch(() => undefined);
  return listed?.data.find(({ id }) => id === sessionId)?.name ?? null;
}

import type { AgentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { agentError } from './agent-errors.ts';

/** Reads an agent by its id: the given version, or the newest one. */
export async function readAgent(
  store: Pick<Store, 'agents'>,
  workspaceId: string,
  id: string,
  version?: number,
): Promise<AgentRecord> {
  const record = await store.agents.get(workspaceId, id, version);
  if (record !== undefined) return record;
  throw agentError('agent_not_found', `${version === undefined ? id : `version ${version} of ${id}`} does not exist`);
}

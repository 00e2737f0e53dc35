import type { AgentRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { agentError } from './agent-errors.ts';

/** An agent that somebody names by its id. The newest version if none is given. */
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

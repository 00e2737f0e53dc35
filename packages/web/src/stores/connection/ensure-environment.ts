import type { Environment } from '@fleetloom/protocol/managed-agents';
import { api } from './api.ts';

/** The id of the newest environment, or of the one with this name; creates one if there is none. */
export async function ensureEnvironment(name?: string): Promise<string> {
  const { data } = await api.get<{ data: readonly Environment[] }>('v1/environments?limit=100');
  const usable = data.filter(({ config, archived_at: archived }) => config.type === 'cloud' && archived === null);
  const found = name === undefined ? usable[0] : usable.find((environment) => environment.name === name);
  return found?.id ?? (await api.post<Environment>('v1/environments', { name: name ?? 'this machine' })).id;
}

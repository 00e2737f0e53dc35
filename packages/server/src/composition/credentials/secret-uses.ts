import type { Clock } from '../../base/clock.ts';
import { RecentMap } from '../../base/collections/recent-map.ts';
import type { Store } from '../../store/store.ts';
import { vaultLimits } from '../../vaults/limits.ts';
import type { RecordUse } from '../../vaults/mcp-authorizations.ts';

/**
 * Creates the records of secrets that sessions use: entries of the audit log before the first use, and then one an hour for each
 * session, credential and host at most, so that a program that sends requests in a loop does not fill the log.
 */
export function createSecretUses(
  { audit }: Pick<Store, 'audit'>,
  clock: Pick<Clock, 'steady'>,
): (sessionId: string, use: 'mcp' | 'variable' | 'repository') => RecordUse {
  const recorded = new RecentMap<{ readonly at: number; readonly written: Promise<void> }>({
    entriesMax: vaultLimits.usesRememberedMax,
  });
  return (sessionId, use) =>
    async ({ workspaceId, vaultId, id }, host) => {
      const key = `${sessionId} ${id} ${use} ${host}`;
      const last = recorded.get(key);
      if (last !== undefined && clock.steady() - last.at < vaultLimits.useEveryMs) return await last.written;
      const details = { vault_id: vaultId, session_id: sessionId, host, as: use };
      const data = { action: 'vault_credential.used', by: { type: 'system' }, target: id, details };
      const written = audit.append([{ workspaceId, data }]);
      const entry = { at: clock.steady(), written };
      recorded.set(key, entry);
      try {
        await written;
      } catch (error) {
        // The next request tries again.
        if (recorded.get(key) === entry) recorded.delete(key);
        throw error;
      }
    };
}

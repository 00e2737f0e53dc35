import { isProgramModel } from '../engines/program/registry.ts';
import { requestError } from '../base/request-error.ts';
import type { CheckVaults } from '../http/routes/sessions.ts';
import type { Vaults } from '../vaults/vaults.ts';
import type { OpenedPrograms } from './open-programs.ts';

/** Refuses what a session with vaults could not keep: a program without a sandbox could read the stored secrets. */
export function createVaultCheck(
  vaults: Pick<Vaults, 'checkForSession'>,
  programOf: OpenedPrograms['programOf'],
): CheckVaults {
  return async (workspaceId, vaultIds, models) => {
    if (vaultIds.length === 0) return;
    await vaults.checkForSession(workspaceId, vaultIds);
    for (const model of models.filter(isProgramModel)) {
      if ((await programOf(model).describe()).isSandboxed) continue;
      const problem = `vault_ids: ${model} runs without a sandbox on this server, and could read the secrets of vaults`;
      throw requestError('invalid_request', problem, { advice: 'leave vault_ids out, or use another model' });
    }
  };
}

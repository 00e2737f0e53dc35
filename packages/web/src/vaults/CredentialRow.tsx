import type { CredentialAuth, VaultCredential, VaultCredentialValidation } from '@fleetloom/protocol/managed-agents';
import { cleanLine } from '@fleetloom/protocol/text';
import { useState } from 'react';
import { formatAgo, formatDay } from '../model/format.ts';
import { api } from '../stores/connection/api.ts';
import { serverNow } from '../stores/connection/clock.ts';
import { ActionForm } from '../ui/admin/ActionForm.tsx';
import { ConfirmButton } from '../ui/admin/ConfirmButton.tsx';
import { SecretField } from '../ui/admin/SecretField.tsx';
import { useAction } from '../ui/admin/use-action.ts';
import { toRotation } from './to-auth.ts';
import { Validation } from './Validation.tsx';

/** The displayed name of each kind of credential. */
export const kindNames: Readonly<Record<CredentialAuth['type'], string>> = {
  static_bearer: 'Token',
  mcp_oauth: 'OAuth',
  environment_variable: 'Variable',
};

/** One credential without its secrets, and its actions. */
export function CredentialRow({ credential, onChanged }: { credential: VaultCredential; onChanged: () => void }) {
  const [isRotating, setRotating] = useState(false);
  const [validation, setValidation] = useState<VaultCredentialValidation | undefined>();
  const validating = useAction();
  const { id, vault_id: vaultId, auth, archived_at: archived } = credential;
  const path = `v1/vaults/${vaultId}/credentials/${id}`;
  const name = cleanLine(credential.display_name ?? toTarget(auth));
  const rotate = async (fields: FormData) => {
    await api.post(path, { auth: toRotation(auth, fields) });
    setRotating(false);
    setValidation(undefined);
    onChanged();
  };
  const archive = async () => {
    await api.post(`${path}/archive`, {});
    onChanged();
  };
  return (
    <li>
      <p className="credential-name">
        <b>{name}</b> <span className="tag">{kindNames[auth.type]}</span>
        {archived !== null && <span className="tag">archived</span>}
      </p>
      <p className="quiet">
        {credential.display_name !== null && (
          <>
            <code>{cleanLine(toTarget(auth))}</code> ·{' '}
          </>
        )}
        {describe(auth)} · changed {formatAgo(serverNow() - Date.parse(credential.updated_at))}
      </p>
      {archived === null && (
        <p className="row-actions">
          <button data-needs="manage" type="button" aria-label={`Rotate ${name}`} onClick={() => setRotating(true)}>
            Rotate …
          </button>
          {auth.type === 'mcp_oauth' && (
            <button
              data-needs="manage"
              type="button"
              aria-label={`Validate ${name}`}
              disabled={validating.isBusy}
              onClick={() =>
                validating.run(async () => setValidation(await api.post(`${path}/mcp_oauth_validate`, {})))
              }
            >
              {validating.isBusy ? 'Asking the server …' : 'Validate'}
            </button>
          )}
          <ConfirmButton
            label="Archive …"
            of={name}
            needs="manage"
            question="Its secret is erased; the next request has none."
            confirm="Archive it for good"
            run={archive}
          />
        </p>
      )}
      {validating.problem !== '' && (
        <p className="fault" role="alert">
          {validating.problem}
        </p>
      )}
      {validation !== undefined && <Validation validation={validation} />}
      {isRotating && (
        <ActionForm
          name={`Rotate ${name}`}
          submit="Replace the secret"
          needs="manage"
          onSubmit={rotate}
          onCancel={() => setRotating(false)}
        >
          <p className="quiet">Sessions use the new secret from their next request on.</p>
          <SecretField label={secretLabels[auth.type]} name="secret" />
          {auth.type === 'mcp_oauth' && auth.refresh !== null && (
            <SecretField label="Refresh token (empty: as it is)" name="refresh_token" isOptional />
          )}
          {auth.type === 'mcp_oauth' && (
            <label>
              Expires (empty: as it is) <input name="expires" type="datetime-local" />
            </label>
          )}
        </ActionForm>
      )}
    </li>
  );
}

const secretLabels: Readonly<Record<CredentialAuth['type'], string>> = {
  static_bearer: 'New token',
  mcp_oauth: 'New access token',
  environment_variable: 'New value',
};

function toTarget(auth: CredentialAuth): string {
  return auth.type === 'environment_variable' ? auth.secret_name : auth.mcp_server_url;
}

function describe(auth: CredentialAuth): string {
  if (auth.type === 'static_bearer') return 'sent as it is';
  if (auth.type === 'environment_variable') {
    const hosts = auth.networking.type === 'limited' ? auth.networking.allowed_hosts.join(', ') : 'every host';
    const { header, body } = auth.injection_location;
    const places = [...(header ? ['headers'] : []), ...(body ? ['bodies'] : [])];
    return cleanLine(`to ${hosts}, in ${places.join(' and ')}`);
  }
  const renewal = auth.refresh === null ? 'not renewed' : `renewed at ${new URL(auth.refresh.token_endpoint).host}`;
  const expiry = auth.expires_at === undefined ? '' : `, expires ${formatDay(Date.parse(auth.expires_at))}`;
  return cleanLine(`${renewal}${expiry}`);
}

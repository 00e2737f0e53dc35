import { useState } from 'react';
import { api } from '../stores/connection/api.ts';
import { ActionForm, textOf } from '../ui/admin/ActionForm.tsx';
import { SecretField } from '../ui/admin/SecretField.tsx';
import { type CredentialKind, toAuth } from './to-auth.ts';

interface AddCredentialProps {
  readonly vaultId: string;
  readonly onAdded: () => void;
  readonly onCancel: () => void;
}

const kinds: readonly (readonly [CredentialKind, string])[] = [
  ['static_bearer', 'Token for an MCP server'],
  ['mcp_oauth', 'OAuth access token for an MCP server'],
  ['environment_variable', 'Environment variable for commands'],
];

/** The form of a new credential, with the fields of its kind. */
export function AddCredential({ vaultId, onAdded, onCancel }: AddCredentialProps) {
  const [kind, setKind] = useState<CredentialKind>('static_bearer');
  const add = async (fields: FormData) => {
    const name = textOf(fields, 'name');
    const auth = toAuth(kind, fields);
    await api.post(`v1/vaults/${vaultId}/credentials`, { auth, ...(name === undefined ? {} : { display_name: name }) });
    onAdded();
  };
  return (
    <ActionForm name="New credential" submit="Store it" needs="manage" onSubmit={add} onCancel={onCancel}>
      <label>
        Kind{' '}
        <select value={kind} onChange={({ target }) => setKind(kinds.find(([each]) => each === target.value)![0])}>
          {kinds.map(([each, label]) => (
            <option key={each} value={each}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label>
        Name (optional) <input name="name" maxLength={255} placeholder="Issue tracker" />
      </label>
      {kind === 'environment_variable' ? <VariableFields /> : <ServerFields isOAuth={kind === 'mcp_oauth'} />}
    </ActionForm>
  );
}

function ServerFields({ isOAuth }: { isOAuth: boolean }) {
  return (
    <>
      <label>
        URL of the MCP server <input name="url" type="url" required placeholder="https://mcp.example.com/mcp" />
      </label>
      <SecretField label={isOAuth ? 'Access token' : 'Token'} name="secret" />
      {isOAuth && (
        <>
          <label>
            Expires (empty: not known) <input name="expires" type="datetime-local" />
          </label>
          <details>
            <summary>Renewal</summary>
            <SecretField label="Refresh token" name="refresh_token" isOptional />
            <label>
              Token endpoint <input name="token_endpoint" type="url" placeholder="https://auth.example.com/token" />
            </label>
            <label>
              Client id <input name="client_id" />
            </label>
            <SecretField label="Client secret (empty: none)" name="client_secret" isOptional />
          </details>
        </>
      )}
    </>
  );
}

function VariableFields() {
  return (
    <>
      <label>
        Name of the variable <input name="variable" required pattern="[A-Za-z_][A-Za-z0-9_]*" placeholder="API_TOKEN" />
      </label>
      <SecretField label="Value" name="secret" />
      <label>
        Hosts that may get it (empty: every host)
        <textarea name="hosts" rows={2} placeholder="api.example.com *.example.org" />
      </label>
      <fieldset>
        <legend>Put in the place of the variable in</legend>
        <label>
          <input name="header" type="checkbox" defaultChecked /> headers
        </label>
        <label>
          <input name="body" type="checkbox" defaultChecked /> bodies
        </label>
      </fieldset>
    </>
  );
}

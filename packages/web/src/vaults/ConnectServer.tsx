import type { FleetOAuthFlow, FleetOAuthFlowStarted } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { useEffect, useState } from 'react';
import { formatClock } from '../model/format.ts';
import { api } from '../stores/connection/api.ts';
import { inBackground } from '../stores/connection/in-background.ts';
import { ActionForm, secretOf, textOf } from '../ui/admin/ActionForm.tsx';
import { SecretField } from '../ui/admin/SecretField.tsx';

interface ConnectServerProps {
  readonly vaultId: string;
  readonly onConnected: () => void;
  readonly onClose: () => void;
}

/** Connects an MCP server: the user consents on a page of its authorization server, while this component waits. */
export function ConnectServer({ vaultId, onConnected, onClose }: ConnectServerProps) {
  const [started, setStarted] = useState<FleetOAuthFlowStarted | undefined>();
  const path = `v1/vaults/${vaultId}/oauth_flows`;
  const begin = async (fields: FormData) => {
    const optional = {
      display_name: textOf(fields, 'name'),
      client_id: textOf(fields, 'client_id'),
      client_secret: secretOf(fields, 'client_secret') || undefined,
      scope: textOf(fields, 'scope'),
    };
    // Fields that are undefined are not sent.
    setStarted(await api.post(path, { mcp_server_url: textOf(fields, 'url') ?? '', ...optional }));
  };
  if (started !== undefined) {
    return <Waiting path={path} started={started} onConnected={onConnected} onClose={onClose} />;
  }
  return (
    <ActionForm name="Connect with OAuth" submit="Continue" needs="manage" onSubmit={begin} onCancel={onClose}>
      <label>
        URL of the MCP server <input name="url" type="url" required placeholder="https://mcp.example.com/mcp" />
      </label>
      <label>
        Name (optional) <input name="name" maxLength={255} />
      </label>
      <details>
        <summary>A client of your own</summary>
        <label>
          Client id <input name="client_id" />
        </label>
        <SecretField label="Client secret (empty: none)" name="client_secret" isOptional />
        <label>
          Scope (empty: what the MCP server names) <input name="scope" />
        </label>
        <p className="quiet">Register {new URL('oauth-callback', location.href.split('#')[0]).href} as its redirect.</p>
      </details>
    </ActionForm>
  );
}

interface WaitingProps extends Omit<ConnectServerProps, 'vaultId'> {
  readonly path: string;
  readonly started: FleetOAuthFlowStarted;
}

function Waiting({ path, started, onConnected, onClose }: WaitingProps) {
  const [flow, setFlow] = useState<FleetOAuthFlow | undefined>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const look = async () => {
      // A failed request is repeated, because the server may be restarting.
      const found = await api.get<FleetOAuthFlow>(`${path}/${started.id}`).catch(() => undefined);
      if (isOver) return;
      if (found === undefined || found.status === 'pending') {
        timer = setTimeout(() => inBackground(look()), LOOK_MS);
        return;
      }
      setFlow(found);
      if (found.status === 'completed') onConnected();
    };
    inBackground(look());
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
    // Path and id do not change while this component is mounted.
  }, [path, started.id]);
  const host = new URL(started.authorization_url).host;
  return (
    <section className="admin-form" role="status" aria-label="Connect with OAuth">
      {flow === undefined && (
        <>
          <p>
            Consent on the page of <b>{cleanLine(host)}</b>. This page notices when you have.
          </p>
          <p className="row-actions">
            <a className="button primary" href={started.authorization_url} target="_blank" rel="noopener noreferrer">
              Open {cleanLine(host)}
            </a>
            <button type="button" onClick={onClose}>
              Do not wait
            </button>
          </p>
          <p className="quiet">Waiting until {formatClock(Date.parse(started.expires_at))} …</p>
        </>
      )}
      {flow?.status === 'completed' && <p>✓ Connected: {cleanLine(flow.mcp_server_url)}</p>}
      {flow?.status === 'failed' && (
        <p className="fault" role="alert">
          Nothing was connected: {cleanLine(flow.error.message)}
        </p>
      )}
      {flow !== undefined && (
        <footer className="card-actions">
          <button type="button" onClick={onClose}>
            Close
          </button>
        </footer>
      )}
    </section>
  );
}

const LOOK_MS = 1_500;

import type { FleetKey, FleetMachine, FleetSettings, FleetWebhook } from '@fleetloom/protocol/fleet';
import { OPEN_ID } from '../../keys/credential.ts';
import type { StoredKey } from '../../keys/key-file.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { httpLimits } from '../limits.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { fleetSettings } from './settings-schema.ts';

/** What the settings are read from. */
export interface SettingsRouteOptions {
  readonly node: { readonly id: string | null; readonly count: () => number };
  /** Undefined for an open server, which has no keys. */
  readonly keys: Pick<KeyStore, 'list'> | undefined;
  readonly modelEndpoint: string | null;
  readonly findMachine: () => Promise<FleetMachine>;
  readonly listWebhooks: () => readonly FleetWebhook[];
  readonly webhookEventMs: number;
  readonly keepDeltas: FleetSettings['retention']['deltas'];
}

/** `/v1/fleet/settings`: the key and workspace of the caller, and what the operator of the server has configured. */
export function createSettingsRoute(options: SettingsRouteOptions): AnyRoute {
  const { node, keys, modelEndpoint, findMachine, listWebhooks, webhookEventMs, keepDeltas } = options;
  return defineRoute({
    name: 'fleet.settings',
    summary:
      'Read the key and workspace of the caller, the keys of the workspace, and what the operator has configured',
    method: 'get',
    path: '/v1/fleet/settings',
    accepts: ['api'],
    gives: fleetSettings,
    handle: async ({ credential: { id, workspaceId } }): Promise<FleetSettings> => {
      const [known, machine] = await Promise.all([keys?.list() ?? [], findMachine()]);
      return {
        type: 'fleet_settings',
        node_id: node.id,
        nodes: node.count(),
        workspace_id: workspaceId,
        key_id: id === OPEN_ID ? null : id,
        keys: known.filter((key) => key.workspaceId === workspaceId).map(toKey),
        model_endpoint: modelEndpoint,
        machine,
        webhooks: listWebhooks(),
        retention: {
          deltas: keepDeltas,
          webhook_event_ms: webhookEventMs,
          login_ms: httpLimits.webSessionMs,
          login_link_ms: httpLimits.loginCodeMs,
        },
      };
    },
  });
}

function toKey({ id, name, kind, createdAt }: StoredKey): FleetKey {
  return { id, name, kind, created_at: new Date(createdAt).toISOString() };
}

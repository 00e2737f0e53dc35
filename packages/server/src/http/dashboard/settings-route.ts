import type { FleetMachine, FleetSettings, FleetWebhook } from '@fleetloom/protocol/fleet';
import { hasScope, OPEN_ID } from '../../keys/credential.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { SCOPES } from '../../keys/scopes.ts';
import { toFleetKey } from '../../keys/to-fleet-key.ts';
import { httpLimits } from '../limits.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { toFleetPerson } from './person-schema.ts';
import { fleetSettings } from './settings-schema.ts';

/** The sources of the settings. */
export interface SettingsRouteOptions {
  readonly node: { readonly id: string | null; readonly count: () => number };
  /** The API keys; undefined for an open server. */
  readonly keys: Pick<KeyStore, 'list' | 'lastUses'> | undefined;
  readonly modelEndpoint: string | null;
  readonly findMachine: () => Promise<FleetMachine>;
  readonly listWebhooks: () => readonly FleetWebhook[];
  readonly webhookEventMs: number;
  readonly keepDeltas: FleetSettings['retention']['deltas'];
}

/** `/v1/fleet/settings`: the key and workspace of the caller, and the configuration of the server. */
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
    handle: async ({ credential }): Promise<FleetSettings> => {
      const { id, workspaceId } = credential;
      const own = credential.kind === 'api' ? credential : undefined;
      const person = own?.person;
      const none = new Map<string, number>();
      const [known, uses, machine] = await Promise.all([keys?.list() ?? [], keys?.lastUses() ?? none, findMachine()]);
      const isAdmin = hasScope(credential, 'admin');
      const shown = known.filter((key) => key.workspaceId === workspaceId && (isAdmin || key.id === id));
      return {
        type: 'fleet_settings',
        node_id: node.id,
        nodes: node.count(),
        workspace_id: workspaceId,
        key_id: id === OPEN_ID || person !== undefined ? null : id,
        scopes: SCOPES.filter((scope) => hasScope(credential, scope)),
        role: own?.login?.role ?? null,
        person: person === undefined ? null : toFleetPerson(person),
        keys: shown.map((key) => toFleetKey(key, uses.get(key.id))),
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

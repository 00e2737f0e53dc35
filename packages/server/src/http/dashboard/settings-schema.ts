import { z } from 'zod';
import { personSchema } from './person-schema.ts';
import { ROLE_NAMES, SCOPES } from '../../keys/scopes.ts';

const time = z.iso.datetime();

/** The settings of a server as a caller sees them, in responses. */
export const fleetSettings = z
  .strictObject({
    type: z.literal('fleet_settings'),
    node_id: z.string().nullable(),
    nodes: z.int(),
    workspace_id: z.string(),
    key_id: z.string().nullable(),
    scopes: z.array(z.enum(SCOPES)),
    role: z.enum(ROLE_NAMES).nullable(),
    person: personSchema.nullable(),
    keys: z.array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        kind: z.enum(['api', 'environment']),
        created_at: time,
        scopes: z.array(z.enum(SCOPES)).nullable(),
        directories: z.array(z.string()).nullable(),
        engines: z.array(z.string()).nullable(),
        expires_at: time.nullable(),
        last_used_at: time.nullable(),
        rotated_at: time.nullable(),
        overlap_until: time.nullable(),
      }),
    ),
    model_endpoint: z.string().nullable(),
    machine: z.strictObject({
      sandbox_problem: z.string().nullable(),
      sandbox_gaps: z.array(z.strictObject({ text: z.string(), fix: z.string() })),
      has_ripgrep: z.boolean(),
      git_version: z.string().nullable(),
      git_problem: z.string().nullable(),
    }),
    webhooks: z.array(
      z.strictObject({
        address: z.string(),
        is_gone: z.boolean(),
        delivered_count: z.int(),
        waiting_count: z.int(),
        deliveries: z.array(z.strictObject({ at: time, delivered_count: z.int(), problem: z.string().nullable() })),
      }),
    ),
    retention: z.strictObject({
      deltas: z.union([z.enum(['all', 'none']), z.strictObject({ days: z.number() })]),
      webhook_event_ms: z.int(),
      login_ms: z.int(),
      login_link_ms: z.int(),
    }),
  })
  .meta({ id: 'FleetSettings' });

import { z } from 'zod';
import { baseLimits } from '../../base/limits.ts';
import { fileLimits } from '../../files/limits.ts';
import { httpLimits } from '../limits.ts';
import { storeLimits } from '../../store/limits.ts';
import { pageQuery } from '../paging/paging.ts';
import { sessionResourceParams } from './file.ts';
import { description, metadata, metadataPatch, moment, name } from './common.ts';

const entries = z.array(z.string().min(1).max(baseLimits.nameCharsMax)).max(httpLimits.environmentEntriesMax);
const entriesParams = entries.nullable().exactOptional();
const flagParams = z.boolean().nullable().exactOptional();
const unrestricted = z.strictObject({ type: z.literal('unrestricted') });
const selfHosted = z.strictObject({ type: z.literal('self_hosted') });

const configParams = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('cloud'),
    networking: z
      .discriminatedUnion('type', [
        unrestricted,
        z.strictObject({
          type: z.literal('limited'),
          allowed_hosts: entriesParams,
          allow_mcp_servers: flagParams,
          allow_package_managers: flagParams,
        }),
      ])
      .nullable()
      .exactOptional(),
    packages: z
      .strictObject({
        type: z.literal('packages').exactOptional(),
        apt: entriesParams,
        cargo: entriesParams,
        gem: entriesParams,
        go: entriesParams,
        npm: entriesParams,
        pip: entriesParams,
      })
      .nullable()
      .exactOptional(),
  }),
  selfHosted,
]);
/** The default resources. The route rejects tokens, and resources that the operator does not allow. */
const resourcesParams = z.array(sessionResourceParams).max(fileLimits.sessionResourcesMax).nullable().exactOptional();
const scopeParams = z.enum(['organization', 'account']).nullable().exactOptional();

/** The body of `POST /v1/environments`. */
export const environmentCreateBody = z.strictObject({
  name,
  config: configParams.nullable().exactOptional(),
  description: description.exactOptional(),
  metadata: metadata.exactOptional(),
  scope: scopeParams,
  resources: resourcesParams,
});

/** The body of `POST /v1/environments/{environment_id}`. */
export const environmentUpdateBody = z.strictObject({
  name: name.nullable().exactOptional(),
  config: configParams.nullable().exactOptional(),
  description: description.exactOptional(),
  metadata: metadataPatch.exactOptional(),
  scope: scopeParams,
  resources: resourcesParams,
});

/** The query of `GET /v1/environments`. */
export const environmentListQuery = z.strictObject({
  ...pageQuery({ max: storeLimits.recordPageItemsMax, normally: httpLimits.recordPageItemsDefault }),
  include_archived: z.boolean().default(false),
});

const config = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('cloud'),
    networking: z.discriminatedUnion('type', [
      unrestricted,
      z.strictObject({
        type: z.literal('limited'),
        allowed_hosts: entries,
        allow_mcp_servers: z.boolean(),
        allow_package_managers: z.boolean(),
      }),
    ]),
    packages: z.strictObject({
      type: z.literal('packages'),
      apt: entries,
      cargo: entries,
      gem: entries,
      go: entries,
      npm: entries,
      pip: entries,
    }),
  }),
  selfHosted,
]);

/** An environment in responses. */
export const environment = z
  .strictObject({
    type: z.literal('environment'),
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    config,
    metadata,
    scope: z.literal('organization'),
    created_at: moment,
    updated_at: moment,
    archived_at: moment.nullable(),
    resources: z.array(sessionResourceParams).exactOptional(),
  })
  .meta({ id: 'Environment' });

/** The response to a deletion. */
export const deletedEnvironment = z.strictObject({ type: z.literal('environment_deleted'), id: z.string() });

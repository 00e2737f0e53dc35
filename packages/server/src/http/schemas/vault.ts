import { z } from 'zod';
import { baseLimits } from '../../base/limits.ts';
import { storeLimits } from '../../store/limits.ts';
import { vaultLimits } from '../../vaults/limits.ts';
import { FLOW_ERRORS } from '../../vaults/oauth/stored-flow.ts';
import { httpLimits } from '../limits.ts';
import { pageQuery } from '../paging/paging.ts';
import { moment } from './common.ts';

/** Text that databases can query in JSON: without NUL and lone surrogates. */
const storable = /^[^\0\p{Surrogate}]*$/u;
const displayName = z.string().min(1).max(vaultLimits.displayNameCharsMax).regex(storable);
/** The display name in an update, which may be empty; the route handles the empty text. */
const displayNameUpdate = z.string().max(vaultLimits.displayNameCharsMax).regex(storable);
const metadataKey = z.string().min(1).max(httpLimits.metadataKeyCharsMax).regex(storable);
const metadataValue = z.string().max(httpLimits.metadataValueCharsMax).regex(storable);
const metadata = z.record(metadataKey, metadataValue);
const metadataPatch = z.record(metadataKey, metadataValue.nullable()).nullable();
const url = z.string().min(1).max(vaultLimits.urlCharsMax).regex(storable);
const oauthText = z.string().max(vaultLimits.oauthTextCharsMax).regex(storable);
const clientId = oauthText.min(1);
/** A secret. Its length and characters are checked where no part of it can get into an error message. */
const secret = z.string();

/** The body of `POST /v1/vaults`. */
export const vaultCreateBody = z.strictObject({ display_name: displayName, metadata: metadata.exactOptional() });

/** The body of `POST /v1/vaults/{vault_id}`. */
export const vaultUpdateBody = z.strictObject({
  display_name: displayName.nullable().exactOptional(),
  metadata: metadataPatch.exactOptional(),
});

/** The query of lists of vaults and credentials. */
export const vaultListQuery = z.strictObject({
  ...pageQuery({ max: storeLimits.recordPageItemsMax, normally: httpLimits.recordPageItemsDefault }),
  include_archived: z.boolean().default(false),
});

const networking = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('unrestricted') }),
  z.strictObject({
    type: z.literal('limited'),
    allowed_hosts: z.array(z.string().min(1).max(baseLimits.nameCharsMax)).min(1).max(vaultLimits.allowedHostsMax),
  }),
]);
const location = z.strictObject({ header: z.boolean().exactOptional(), body: z.boolean().exactOptional() });

const refreshParams = z.strictObject({
  client_id: clientId,
  refresh_token: secret,
  token_endpoint: url,
  token_endpoint_auth: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('none') }),
    z.strictObject({ type: z.literal('client_secret_basic'), client_secret: secret }),
    z.strictObject({ type: z.literal('client_secret_post'), client_secret: secret }),
  ]),
  resource: oauthText.nullable().exactOptional(),
  scope: oauthText.nullable().exactOptional(),
});

const authParams = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('static_bearer'), mcp_server_url: url, token: secret }),
  z.strictObject({
    type: z.literal('mcp_oauth'),
    mcp_server_url: url,
    access_token: secret,
    expires_at: moment.nullable().exactOptional(),
    refresh: refreshParams.nullable().exactOptional(),
  }),
  z.strictObject({
    type: z.literal('environment_variable'),
    secret_name: z.string(),
    secret_value: secret,
    networking,
    injection_location: location.exactOptional(),
  }),
]);

/** The body of `POST /v1/vaults/{vault_id}/credentials`. */
export const credentialCreateBody = z.strictObject({
  auth: authParams,
  display_name: displayName.nullable().exactOptional(),
  metadata: metadata.exactOptional(),
});

const secretUpdate = secret.nullable().exactOptional();
const authUpdate = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('static_bearer'), token: secretUpdate }),
  z.strictObject({
    type: z.literal('mcp_oauth'),
    access_token: secretUpdate,
    expires_at: moment.nullable().exactOptional(),
    refresh: z
      .strictObject({
        refresh_token: secretUpdate,
        scope: oauthText.nullable().exactOptional(),
        token_endpoint_auth: z
          .strictObject({
            type: z.enum(['client_secret_basic', 'client_secret_post']),
            client_secret: secretUpdate,
          })
          .exactOptional(),
      })
      .nullable()
      .exactOptional(),
  }),
  z.strictObject({
    type: z.literal('environment_variable'),
    secret_value: secretUpdate,
    networking: networking.nullable().exactOptional(),
    injection_location: location.exactOptional(),
  }),
]);

/** The body of `POST /v1/vaults/{vault_id}/credentials/{credential_id}`. */
export const credentialUpdateBody = z.strictObject({
  auth: authUpdate.exactOptional(),
  display_name: displayNameUpdate.nullable().exactOptional(),
  metadata: metadataPatch.exactOptional(),
});

const dates = { created_at: moment, updated_at: moment, archived_at: moment.nullable() };

/** A vault in responses. */
export const vault = z
  .strictObject({
    type: z.literal('vault'),
    id: z.string(),
    display_name: z.string(),
    metadata: z.record(z.string(), z.string()),
    ...dates,
  })
  .meta({ id: 'Vault' });

const auth = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('static_bearer'), mcp_server_url: z.string() }),
  z.strictObject({
    type: z.literal('mcp_oauth'),
    mcp_server_url: z.string(),
    expires_at: moment.exactOptional(),
    refresh: z
      .strictObject({
        client_id: z.string(),
        token_endpoint: z.string(),
        token_endpoint_auth: z.strictObject({ type: z.enum(['none', 'client_secret_basic', 'client_secret_post']) }),
        resource: z.string().nullable(),
        scope: z.string().nullable(),
      })
      .nullable(),
  }),
  z.strictObject({
    type: z.literal('environment_variable'),
    secret_name: z.string(),
    networking: z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('unrestricted') }),
      z.strictObject({ type: z.literal('limited'), allowed_hosts: z.array(z.string()) }),
    ]),
    injection_location: z.strictObject({ header: z.boolean(), body: z.boolean() }),
  }),
]);

/** A credential in responses: without its secrets. */
export const credential = z
  .strictObject({
    type: z.literal('vault_credential'),
    id: z.string(),
    vault_id: z.string(),
    display_name: z.string().nullable(),
    auth,
    metadata: z.record(z.string(), z.string()),
    ...dates,
  })
  .meta({ id: 'VaultCredential' });

/** The response to the deletion of a vault. */
export const deletedVault = z.strictObject({ type: z.literal('vault_deleted'), id: z.string() });
export const deletedCredential = z.strictObject({ type: z.literal('vault_credential_deleted'), id: z.string() });

const capturedResponse = z.strictObject({
  status_code: z.int(),
  content_type: z.string(),
  body: z.string(),
  body_truncated: z.boolean(),
});

/** The response to `…/mcp_oauth_validate`. */
export const credentialValidation = z
  .strictObject({
    type: z.literal('vault_credential_validation'),
    credential_id: z.string(),
    vault_id: z.string(),
    status: z.enum(['valid', 'invalid', 'unknown']),
    has_refresh_token: z.boolean(),
    mcp_probe: z.strictObject({ method: z.string(), http_response: capturedResponse.nullable() }).nullable(),
    refresh: z
      .strictObject({
        status: z.enum(['succeeded', 'failed', 'connect_error', 'no_refresh_token']),
        http_response: capturedResponse.nullable(),
      })
      .nullable(),
    validated_at: moment,
  })
  .meta({ id: 'VaultCredentialValidation' });

/** The master keys of the server and how many stored secrets each has encrypted. */
export const secretsStatus = z
  .strictObject({
    type: z.literal('secrets_status'),
    /** The id of the key that encrypts new secrets; null if there is none. */
    key_id: z.string().nullable(),
    keys: z.array(z.strictObject({ id: z.string(), secrets: z.int(), is_known: z.boolean() })),
    /** Only after a step of a rotation: the number of secrets that were encrypted again, and that could not be decrypted. */
    rewrapped: z.int().exactOptional(),
    unopened: z.int().exactOptional(),
  })
  .meta({ id: 'SecretsStatus' });

/** The body of `POST /v1/vaults/{vault_id}/oauth_flows`. */
export const oauthFlowCreateBody = z.strictObject({
  mcp_server_url: url,
  display_name: displayName.nullable().exactOptional(),
  client_id: clientId.exactOptional(),
  client_secret: secret.exactOptional(),
  scope: oauthText.min(1).exactOptional(),
});

/** A flow that waits for the consent of a user at `authorization_url`. */
export const oauthFlowStarted = z
  .strictObject({
    type: z.literal('oauth_flow_started'),
    id: z.string(),
    authorization_url: z.string(),
    expires_at: moment,
  })
  .meta({ id: 'OAuthFlowStarted' });

const flowBase = {
  type: z.literal('oauth_flow'),
  id: z.string(),
  vault_id: z.string(),
  mcp_server_url: z.string(),
  expires_at: moment,
};

/** The state of a flow, in responses. */
export const oauthFlow = z
  .discriminatedUnion('status', [
    z.strictObject({ ...flowBase, status: z.literal('pending') }),
    z.strictObject({ ...flowBase, status: z.literal('completed'), credential_id: z.string() }),
    z.strictObject({
      ...flowBase,
      status: z.literal('failed'),
      error: z.strictObject({ type: z.enum(FLOW_ERRORS), message: z.string() }),
    }),
  ])
  .meta({ id: 'OAuthFlow' });

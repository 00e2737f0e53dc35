import { isObject } from '../../base/json/json.ts';
import { type AddressRules, findAddresses } from '../../tools/network/find-addresses.ts';
import { parseJson } from '../parse-json.ts';
import type { ClientAuthentication } from '../token-request.ts';
import { vaultError } from '../vault-errors.ts';
import type { Authorization } from './discover.ts';
import type { MetadataReader } from './fetch-metadata.ts';

/** The identity of this server as a client of an authorization server. */
export interface ConnectClient {
  readonly clientId: string;
  readonly authentication: ClientAuthentication;
}

/** The inputs of `findClient`. */
export interface ClientSearch {
  readonly reader: MetadataReader;
  readonly rules: AddressRules;
  readonly server: Authorization;
  /** The address of this server, as the user reaches it. */
  readonly ownUrl: string;
  /** The client that the user has registered, if any. */
  readonly given: { readonly clientId: string; readonly clientSecret: string | undefined } | undefined;
}

/** Returns the client of the user, else a client document that the authorization server reads from this server, else a client registered now. */
export async function findClient(search: ClientSearch): Promise<ConnectClient> {
  const { given, server, ownUrl } = search;
  if (given !== undefined) return toGivenClient(given, server);
  if (server.takesClientDocuments && (await isPublic(search))) {
    return { clientId: `${ownUrl}${CLIENT_DOCUMENT_PATH}`, authentication: { type: 'none' } };
  }
  return await register(search);
}

/** The path of the metadata of this server as a client. */
export const CLIENT_DOCUMENT_PATH = '/oauth-client.json';
/** The path that authorization servers send browsers back to. */
export const CALLBACK_PATH = '/oauth-callback';

/** The client metadata of this server, which it registers or publishes for authorization servers to read. */
export function toClientMetadata(ownUrl: string, authentication: ClientAuthentication['type']): object {
  return {
    client_name: 'Fleetloom',
    redirect_uris: [`${ownUrl}${CALLBACK_PATH}`],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: authentication,
    // The redirect URL of a `web` client may not be on the machine of its user.
    application_type: new URL(ownUrl).protocol === 'https:' ? 'web' : 'native',
  };
}

function toGivenClient(
  { clientId, clientSecret }: NonNullable<ClientSearch['given']>,
  { clientAuthentications: known = ['client_secret_basic'] }: Authorization,
): ConnectClient {
  if (clientSecret === undefined) return { clientId, authentication: { type: 'none' } };
  const type = SECRET_TYPES.find((each) => known.includes(each));
  if (type === undefined) throw vaultError('oauth_client_missing', `client_secret: ${NO_SECRETS}`);
  return { clientId, authentication: { type, clientSecret } };
}

/** Whether an authorization server can reach this server: by https, at a public address. */
async function isPublic({ ownUrl, rules }: ClientSearch): Promise<boolean> {
  const url = new URL(ownUrl);
  if (url.protocol !== 'https:') return false;
  const found = await findAddresses(url, { ...rules, allowedPrivateHosts: [] }).catch(() => undefined);
  return found?.type === 'found';
}

async function register({ reader, server, ownUrl }: ClientSearch): Promise<ConnectClient> {
  const { registrationEndpoint: url, clientAuthentications: known = ['client_secret_basic'] } = server;
  const redirect = `${ownUrl}${CALLBACK_PATH}`;
  if (url === undefined) {
    throw vaultError('oauth_client_missing', `the authorization server registers no clients (redirect: ${redirect})`);
  }
  const type = (['none', ...SECRET_TYPES] as const).find((each) => known.includes(each));
  if (type === undefined) throw vaultError('oauth_client_missing', NO_SECRETS);
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const body = JSON.stringify(toClientMetadata(ownUrl, type));
  const answer = await reader.send({ url, method: 'POST', headers, body });
  const client = answer?.status === 201 || answer?.status === 200 ? toClient(answer.body, type) : undefined;
  if (client !== undefined) return client;
  const status = answer === undefined ? 'no answer' : `status ${answer.status}`;
  throw vaultError('oauth_client_missing', `the authorization server has not registered ${redirect} (${status})`);
}

/** The registered client. Without a secret in the response, it authenticates with `none`, whatever was requested. */
function toClient(body: string, asked: ClientAuthentication['type']): ConnectClient | undefined {
  const parsed = parseJson(body);
  if (!isObject(parsed)) return undefined;
  const { client_id: clientId, client_secret: clientSecret, token_endpoint_auth_method: method = asked } = parsed;
  if (!isText(clientId)) return undefined;
  if (method === 'none' || clientSecret === undefined) return { clientId, authentication: { type: 'none' } };
  const type = SECRET_TYPES.find((each) => each === method);
  return type === undefined || !isText(clientSecret) ? undefined : { clientId, authentication: { type, clientSecret } };
}

/** Whether a value is text that can be used in a header and a credential. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && /^[\x20-\x7e]{1,2048}$/.test(value);
}

const SECRET_TYPES = ['client_secret_basic', 'client_secret_post'] as const;
const NO_SECRETS = 'the authorization server takes neither client_secret_basic nor client_secret_post';

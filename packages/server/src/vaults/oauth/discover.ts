import type { JsonObject } from '../../base/json/json.ts';
import { vaultError } from '../vault-errors.ts';
import type { MetadataReader } from './fetch-metadata.ts';

/** How clients are authorized at an MCP server. */
export interface Authorization {
  /** The resource identifier of the MCP server (RFC 8707). */
  readonly resource: string;
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | undefined;
  /** The scope to request if the user has not named one. */
  readonly scope: string | undefined;
  readonly namesIssuer: boolean;
  readonly takesClientDocuments: boolean;
  /** Undefined if the server does not list any, which means `client_secret_basic`. */
  readonly clientAuthentications: readonly string[] | undefined;
}

/**
 * Reads the authorization server of an MCP server (RFC 9728) and the endpoints of that server (RFC 8414, OpenID Connect Discovery). Throws an
 * error that says which of the two servers has not responded correctly. An https server may only name https URLs.
 */
export async function discover(reader: MetadataReader, serverUrl: string): Promise<Authorization> {
  const challenge = await readChallenge(reader, serverUrl);
  const resource = await readResource(reader, serverUrl, challenge.metadataUrl);
  const server = await readServer(reader, serverUrl, resource.issuer);
  const scopes = challenge.scope ?? resource.scope;
  return { ...server, resource: resource.resource, scope: withRefresh(scopes, server.scopes) };
}

interface Challenge {
  readonly metadataUrl: string | undefined;
  readonly scope: string | undefined;
}

/** Reads the 401 response to a request without a token. Without such a response, the metadata may still be at its well-known address. */
async function readChallenge(reader: MetadataReader, url: string): Promise<Challenge> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const answer = await reader.send({ url, method: 'POST', headers, body: INITIALIZE });
  const header = answer?.status === 401 ? answer.headers['www-authenticate'] : undefined;
  const text = Array.isArray(header) ? header.join(', ') : (header ?? '');
  return { metadataUrl: findParameter(text, METADATA), scope: findParameter(text, SCOPE) };
}

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'fleetloom', version: '0.1.0' },
  },
});

const METADATA = /(?:^|[\s,])resource_metadata=(?:"([^"]{1,2048})"|([^\s",]{1,2048}))/i;
const SCOPE = /(?:^|[\s,])scope=(?:"([^"]{1,2048})"|([^\s",]{1,2048}))/i;

function findParameter(header: string, pattern: RegExp): string | undefined {
  const found = pattern.exec(header);
  return found?.[1] ?? found?.[2];
}

async function readResource(reader: MetadataReader, serverUrl: string, given: string | undefined) {
  const { origin, pathname, search } = new URL(serverUrl);
  const usual = `${origin}/.well-known/oauth-protected-resource`;
  const path = withoutSlashes(pathname);
  const addresses = given === undefined ? [...new Set([`${usual}${path}${search}`, usual])] : [given];
  for (const address of addresses) {
    if (!isUsable(address, serverUrl)) continue;
    const metadata = await reader.read(address);
    if (metadata === undefined) continue;
    const resource = textOf(metadata, 'resource');
    if (resource === undefined || !covers(resource, serverUrl)) {
      throw failed('the metadata of the MCP server is about another server');
    }
    const issuer = listOf(metadata, 'authorization_servers')?.[0];
    if (issuer === undefined || !isUsable(issuer, serverUrl)) {
      throw failed('the MCP server names no authorization server that can be used');
    }
    return { resource, issuer, scope: listOf(metadata, 'scopes_supported')?.join(' ') };
  }
  throw failed('the MCP server does not say which authorization server it has (RFC 9728)');
}

/** Whether a resource identifier is the URL of the server, or of a parent path on the same site. */
function covers(resource: string, serverUrl: string): boolean {
  if (!URL.canParse(resource)) return false;
  const [named, server] = [new URL(resource), new URL(serverUrl)];
  const path = withoutSlashes(named.pathname);
  const isSameSite = named.origin === server.origin && (named.search === '' || named.search === server.search);
  return isSameSite && (server.pathname === path || server.pathname.startsWith(`${path}/`));
}

async function readServer(reader: MetadataReader, serverUrl: string, issuer: string) {
  const { origin, pathname } = new URL(issuer);
  const path = withoutSlashes(pathname);
  const addresses = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  for (const address of new Set(addresses)) {
    const metadata = await reader.read(address);
    if (metadata !== undefined) return toServer(metadata, serverUrl, issuer);
  }
  throw failed('the authorization server does not say where its endpoints are (RFC 8414)');
}

function toServer(metadata: JsonObject, serverUrl: string, issuer: string) {
  // Compared exactly: with another issuer, codes of this authorization server could be sent to a different one.
  if (metadata['issuer'] !== issuer) throw failed('the metadata of the authorization server is about another issuer');
  const endpoint = (name: string) => {
    const url = textOf(metadata, name);
    return url !== undefined && isUsable(url, serverUrl) ? url : undefined;
  };
  const [authorizationEndpoint, tokenEndpoint] = [endpoint('authorization_endpoint'), endpoint('token_endpoint')];
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    throw failed('the authorization server names no endpoints that can be used');
  }
  if (listOf(metadata, 'code_challenge_methods_supported')?.includes('S256') !== true) {
    throw failed('the authorization server does not support PKCE with S256');
  }
  return {
    issuer,
    authorizationEndpoint,
    tokenEndpoint,
    registrationEndpoint: endpoint('registration_endpoint'),
    namesIssuer: metadata['authorization_response_iss_parameter_supported'] === true,
    takesClientDocuments: metadata['client_id_metadata_document_supported'] === true,
    clientAuthentications: listOf(metadata, 'token_endpoint_auth_methods_supported'),
    scopes: listOf(metadata, 'scopes_supported') ?? [],
  };
}

/** Adds the scope without which OpenID providers return no refresh token. */
function withRefresh(scope: string | undefined, known: readonly string[]): string | undefined {
  if (!known.includes(OFFLINE) || scope?.split(' ').includes(OFFLINE) === true) return scope;
  return scope === undefined ? OFFLINE : `${scope} ${OFFLINE}`;
}

/** The scope of refresh tokens in OpenID Connect. */
export const OFFLINE = 'offline_access';

/** Whether a URL may be requested or opened in a browser: only https, and http if the MCP server itself uses http. */
function isUsable(url: string, serverUrl: string): boolean {
  if (url.length > URL_CHARS_MAX || !URL.canParse(url)) return false;
  const { protocol, username, password, hash } = new URL(url);
  if (username !== '' || password !== '' || hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && new URL(serverUrl).protocol === 'http:');
}

const URL_CHARS_MAX = 2_048;

function withoutSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}

function textOf(metadata: JsonObject, name: string): string | undefined {
  const value = metadata[name];
  return typeof value === 'string' ? value : undefined;
}

function listOf(metadata: JsonObject, name: string): readonly string[] | undefined {
  const value = metadata[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined;
}

function failed(problem: string): Error {
  return vaultError('oauth_not_discovered', problem);
}

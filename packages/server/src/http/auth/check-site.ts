import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { cutText } from '@fleetloom/protocol/fleet';
import { requestError } from '../../base/request-error.ts';

/** The names and origins that requests may use for this server. */
export interface SiteRules {
  /** Whether the server is bound to loopback. If it is not, clients may also use its IP address as the host. */
  readonly isLoopback: boolean;
  /** Host names, without port, that are accepted in addition to the loopback ones. */
  readonly hosts: readonly string[];
  /** Origins of pages that may call the server in addition to its own, e.g. `https://fleet.example.com`. */
  readonly origins: readonly string[];
}

/**
 * Rejects requests that a browser makes for a page of another site. Such a page may resolve its own name to this server, and then has
 * the same origin as this server (DNS rebinding): the `Host` is that name. Or it calls this server directly: then browsers send the origin.
 */
export function checkSite(rules: SiteRules, headers: IncomingHttpHeaders, method: string): void {
  const host = parseHost(headers.host);
  if (host === undefined) throw requestError('invalid_request', 'the Host header is missing or not a host');
  if (!isAllowedHost(rules, host.name)) throw requestError('wrong_host', `${host.name} is not a name of this server`);
  const { origin } = headers;
  if (origin !== undefined) return checkOrigin(rules, origin, host.text);
  // Requests without an Origin change nothing, and a foreign page cannot read their response. They are rejected nevertheless, so that
  // the page cannot measure their time; following a link to this server is allowed.
  const site = headers['sec-fetch-site'];
  const isForeign = site === 'cross-site' || site === 'same-site';
  if (isForeign && !(method === 'GET' && headers['sec-fetch-mode'] === 'navigate')) {
    throw requestError('wrong_origin', 'the request was made by a page of another site');
  }
}

/** Whether a host name or address always means this machine. */
export function isLoopbackHost(name: string): boolean {
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** Whether the request comes from a page of an allowed origin, which then needs CORS headers. */
export function isAllowedOrigin({ origins }: SiteRules, origin: string | undefined): boolean {
  return origin !== undefined && origins.includes(origin);
}

function isAllowedHost({ isLoopback, hosts }: SiteRules, name: string): boolean {
  if (isLoopbackHost(name) || hosts.some((each) => each.toLowerCase() === name)) return true;
  // Only a DNS name can be pointed at this server by another site, not an address.
  return !isLoopback && isIP(name) !== 0;
}

function checkOrigin(rules: SiteRules, origin: string, host: string): void {
  if (isAllowedOrigin(rules, origin)) return;
  if (origin === `http://${host}` || origin === `https://${host}`) return;
  throw requestError('wrong_origin', `pages of ${cutText(origin, 200)} may not use this server`);
}

/** `name` without port and brackets, `text` as it was sent; both in lower case. */
function parseHost(header: string | undefined): { name: string; text: string } | undefined {
  const text = header?.toLowerCase();
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/.exec(text ?? '');
  const name = match?.[1] ?? match?.[2];
  if (text === undefined || name === undefined || Number(match?.[3] ?? 0) > PORT_MAX) return undefined;
  return { name: name.replace(/\.$/, ''), text };
}

const PORT_MAX = 65_535;

import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { cutText } from '@fleetloom/protocol/fleet';
import { doorError } from './door-error.ts';

export interface SiteRules {
  /** Whether the server is bound to loopback. If it is not, people also call it by its address. */
  readonly isLoopback: boolean;
  /** Names, without port, by which it may be called beside the loopback ones. */
  readonly hosts: readonly string[];
  /** Origins of pages that may call it beside its own, e.g. `https://fleet.example.com`. */
  readonly origins: readonly string[];
}

/**
 * Refuses requests that a browser makes for somebody else. A page may point a name of its own at our address and then
 * looks like ours (DNS rebinding): the `Host` is then that name. Or it just calls us: then browsers say where from.
 */
export function checkSite(rules: SiteRules, headers: IncomingHttpHeaders, method: string): void {
  const host = parseHost(headers.host);
  if (host === undefined) throw doorError('invalid_request', 'the Host header is missing or no host');
  if (!isAllowedHost(rules, host.name)) throw doorError('wrong_host', `${host.name} is no name of this server`);
  const { origin } = headers;
  if (origin !== undefined) return checkOrigin(rules, origin, host.text);
  // Without an Origin there are only requests that change nothing and whose answer a foreign page cannot read. Refused
  // all the same, so that a page cannot measure anything by them; following a link to us is no such thing.
  const site = headers['sec-fetch-site'];
  const isForeign = site === 'cross-site' || site === 'same-site';
  if (isForeign && !(method === 'GET' && headers['sec-fetch-mode'] === 'navigate')) {
    throw doorError('wrong_origin', 'this is a request of a page from elsewhere');
  }
}

export function isLoopbackHost(name: string): boolean {
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** Whether the page that asks is of an origin that was allowed by name, and so needs to be told. */
export function isAllowedOrigin({ origins }: SiteRules, origin: string | undefined): boolean {
  return origin !== undefined && origins.includes(origin);
}

function isAllowedHost({ isLoopback, hosts }: SiteRules, name: string): boolean {
  if (isLoopbackHost(name) || hosts.some((each) => each.toLowerCase() === name)) return true;
  // An address was typed by somebody: only names can be pointed at us.
  return !isLoopback && isIP(name) !== 0;
}

function checkOrigin(rules: SiteRules, origin: string, host: string): void {
  if (isAllowedOrigin(rules, origin)) return;
  if (origin === `http://${host}` || origin === `https://${host}`) return;
  throw doorError('wrong_origin', `pages of ${cutText(origin, 200)} may not use this server`);
}

/** `name` without port and brackets, `text` as it was sent; both in lower case. */
function parseHost(header: string | undefined): { name: string; text: string } | undefined {
  const text = header?.toLowerCase();
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/.exec(text ?? '');
  const name = match?.[1] ?? match?.[2];
  return text === undefined || name === undefined ? undefined : { name: name.replace(/\.$/, ''), text };
}

import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { FleetloomError } from '../../base/errors.ts';
import { httpLimits } from '../limits.ts';

/** The client of a request, as reported by proxies that the operator trusts. */
export interface ClientOrigin {
  readonly address: string | undefined;
  /** Whether the client uses https. */
  readonly isSecure: boolean;
}

/** The addresses of trusted proxies, and the client behind them. */
export interface TrustedProxies {
  has(address: string | undefined): boolean;
  originOf(request: ForwardedRequest): ClientOrigin;
}

/** The parts of a request that identify its client. */
export interface ForwardedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined; readonly encrypted?: boolean };
}

/**
 * Reads `X-Forwarded-For` and `X-Forwarded-Proto` of connections from these addresses and networks, such as `10.0.0.7` or `10.0.0.0/8`. Every
 * client can send these headers, so other addresses are ignored. Without proxies `X-Forwarded-Proto` is accepted from any address: it
 * can only add `Secure` to the cookie of its sender.
 */
export function createTrustedProxies(proxies: readonly string[] = []): TrustedProxies {
  const trusted = toBlockList(proxies);
  const has = (address: string | undefined) => {
    const plain = toPlain(address);
    return plain !== undefined && isIP(plain) !== 0 && trusted.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  };
  return {
    has,
    originOf: ({ headers, socket }) => {
      const isTrusted = has(socket.remoteAddress);
      const counts = isTrusted || proxies.length === 0;
      const isSecure = socket.encrypted === true || (counts && headers['x-forwarded-proto'] === 'https');
      const address = isTrusted ? findClient(socket.remoteAddress, headers['x-forwarded-for']) : socket.remoteAddress;
      return { address, isSecure };
    },
  };

  /** Searches from the right: each proxy appends the address of its caller. The first address that is not a proxy is the client. */
  function findClient(from: string | undefined, header: string | string[] | undefined): string | undefined {
    const hops = String(header ?? '')
      .split(',')
      .slice(-httpLimits.forwardedHopsMax);
    let client = from;
    for (const hop of hops.toReversed()) {
      const address = toPlain(hop.trim().replace(/^\[|\]$/g, ''));
      if (address === undefined || isIP(address) === 0) break;
      client = address;
      if (!has(address)) break;
    }
    return client;
  }
}

function toBlockList(proxies: readonly string[]): BlockList {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits, ...more] = proxy.split('/');
    const version = isIP(address);
    const bitsMax = version === 6 ? 128 : 32;
    const length = bits === undefined ? bitsMax : /^\d{1,3}$/.test(bits) ? Number(bits) : bitsMax + 1;
    if (version === 0 || length > bitsMax || more.length > 0) {
      throw new FleetloomError({
        code: 'invalid_proxy',
        kind: 'caller',
        problem: `${proxy} is not the address of a proxy`,
        advice: 'write an address such as 10.0.0.7 or a network such as 10.0.0.0/24',
      });
    }
    list.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** Removes the prefix of an IPv4 address on an IPv6 socket. */
function toPlain(address: string | undefined): string | undefined {
  return address?.startsWith('::ffff:') === true ? address.slice('::ffff:'.length) : address;
}

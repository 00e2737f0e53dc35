import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Whether an address is one of the internet at large: not of this machine, of a private network, of the link, shared by
 * a provider, of a group, or set apart for something else. Text that is not an address is not public.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !reserved.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  const embedded = readEmbedded(address);
  if (embedded !== undefined) return isPublicAddress(embedded);
  return unicast.check(address, 'ipv6') && !reserved.check(address, 'ipv6');
}

/** The address of version 4 in an address that stands for one: `::ffff:1.2.3.4` and, through a gateway, `64:ff9b::1.2.3.4`. */
function readEmbedded(address: string): string | undefined {
  if (!embedding.check(address, 'ipv6')) return undefined;
  // The parser of addresses writes every form in the same one: `[::ffff:7f00:1]`.
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split(':');
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group === '' ? '0' : group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** All of version 6 that is in use on the internet. */
const unicast = toList([['2000::', 3]]);

const embedding = toList([
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
]);

const reserved = toList([
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Protocol assignments, tunnels (whose far end is unknown), documentation.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]);

function toList(subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, isIPv4(network) ? 'ipv4' : 'ipv6');
  return list;
}

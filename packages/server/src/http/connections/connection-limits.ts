import { isIPv6 } from 'node:net';
import { readDescriptorsMax } from '../../base/process/descriptors.ts';
import { baseLimits } from '../../base/limits.ts';
import { httpLimits } from '../limits.ts';
import { isLoopbackHost } from '../auth/check-site.ts';

/** Limits on connections and on requests in progress. */
export interface ConnectionLimits {
  readonly max: number;
  /** Connections of one address, except loopback, which all programs and proxies of this machine share. */
  readonly perAddressMax: number;
  /** Requests in progress of one credential. */
  readonly perKeyMax: number;
  /** Requests in progress of all credentials. The rest is for `/healthz` and for connections without a request yet. */
  readonly keysMax: number;
}

/** The limits that the operator has configured; undefined means the default. */
export interface ConnectionChoice {
  readonly max?: number | undefined;
  readonly perAddressMax?: number | undefined;
}

/** Creates a function that reads the limits again at each call. */
export function createConnectionLimits(choice: ConnectionChoice): () => ConnectionLimits {
  let descriptorsMax: number = baseLimits.descriptorsElsewhere;
  return () => {
    // Without a free descriptor the file cannot be read; the last value stays.
    descriptorsMax = readDescriptorsMax() ?? descriptorsMax;
    return toConnectionLimits(choice, descriptorsMax);
  };
}

/**
 * Half of the descriptors that the process may open are for connections. The other half is for the database, files, tool
 * hosts, programs and requests to models: clients without a key must not exhaust those.
 */
export function toConnectionLimits(choice: ConnectionChoice, descriptorsMax: number): ConnectionLimits {
  const half = Math.floor((descriptorsMax - httpLimits.descriptorsAtStart) / 2);
  const max = choice.max ?? Math.min(httpLimits.connectionsMax, Math.max(httpLimits.connectionsMin, half));
  return {
    max,
    perAddressMax: choice.perAddressMax ?? Math.max(1, Math.ceil(max / 2)),
    perKeyMax: Math.max(1, Math.floor(max / 2)),
    keysMax: Math.max(1, max - Math.max(1, Math.floor(max / 8))),
  };
}

/**
 * The group that a connection is counted in; undefined for loopback. For IPv6 the first 64 bits: the holder of one address
 * of such a network usually has all of them.
 */
export function toAddressGroup(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  if (isLoopbackHost(plain)) return undefined;
  return isIPv6(plain) ? toNetwork(plain) : plain;
}

function toNetwork(address: string): string {
  const [before = '', after] = address.split('%')[0]!.split('::');
  const left = before === '' ? [] : before.split(':');
  const right = after === undefined || after === '' ? [] : after.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}

import { isIP, type LookupFunction } from 'node:net';
import type { Connections, IncomingAnswer, OutgoingRequest } from '../../base/outgoing-http.ts';
import { type AddressRules, findAddresses, toHostname } from '../network/find-addresses.ts';
import { McpFault } from './mcp-fault.ts';

/** Sends a request. The addresses of the host are checked, and only checked addresses are connected to. */
export async function openRequest(
  connections: Connections,
  request: OutgoingRequest,
  rules: AddressRules,
): Promise<IncomingAnswer> {
  const { url, headers, signal, connectMs } = request;
  // A host that is an address is not looked up.
  if (isIP(toHostname(url)) !== 0) await findChecked(url, rules);
  signal.throwIfAborted();
  return await connections.send({
    ...request,
    headers: { ...headers, 'accept-encoding': 'identity' },
    // Cancels the lookup together with the connection.
    lookup: toLookup(url, rules, AbortSignal.any([signal, AbortSignal.timeout(connectMs)])),
  });
}

function toLookup(url: URL, rules: AddressRules, signal: AbortSignal): LookupFunction {
  return (_hostname, { all = false }, callback) => {
    findChecked(url, rules, signal).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        // Node requests either all addresses or one.
        if (all) callback(null, found);
        else callback(null, found[0]!.address, found[0]!.family);
      },
      (error: Error) => callback(error, ''),
    );
  };
}

async function findChecked(url: URL, rules: AddressRules, signal?: AbortSignal): Promise<readonly string[]> {
  const found = await findAddresses(url, rules, signal);
  if (found.type === 'found') return found.addresses;
  if (found.type === 'none') throw new McpFault('unreachable', `${url.hostname} has no address`, NOT_SENT);
  throw new McpFault(
    'not_public',
    `${url.host} is not a public address. The operator of this server can allow it with --allow-private-host ${url.host}`,
    NOT_SENT,
  );
}

const NOT_SENT = { wasSent: false };

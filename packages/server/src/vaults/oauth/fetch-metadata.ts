import type { Connections } from '../../base/outgoing-http.ts';
import { isObject, type JsonObject } from '../../base/json/json.ts';
import type { AddressRules } from '../../tools/network/find-addresses.ts';
import { vaultLimits } from '../limits.ts';
import { parseJson } from '../parse-json.ts';
import { type ReceivedResponse, sendRequest } from '../send-request.ts';

/** Sends the requests of OAuth discovery, all of them within one time limit. */
export interface MetadataReader {
  send(request: MetadataRequest): Promise<ReceivedResponse | undefined>;
  /** The JSON object at a URL; undefined if the URL does not return one. */
  read(url: string): Promise<JsonObject | undefined>;
}

interface MetadataRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Creates the reader. It rejects private addresses, follows no redirects, and treats responses that are too long or too slow as missing. */
export function createMetadataReader(
  connections: Connections,
  rules: AddressRules,
  steady: () => number,
): MetadataReader {
  const until = steady() + vaultLimits.oauthDiscoveryMs;
  const send = async (request: MetadataRequest) => {
    const withinMs = Math.min(vaultLimits.tokenEndpointMs, until - steady());
    if (withinMs <= 0) return undefined;
    const answer = await sendRequest(connections, request, rules, { withinMs, bytesMax: vaultLimits.metadataBytesMax });
    return answer?.isTruncated === true ? undefined : answer;
  };
  return {
    send,
    read: async (url) => {
      const answer = await send({ url, method: 'GET', headers: { accept: 'application/json' } });
      const parsed = answer?.status === 200 ? parseJson(answer.body) : undefined;
      return isObject(parsed) ? parsed : undefined;
    },
  };
}

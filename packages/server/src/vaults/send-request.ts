import type { Connections } from '../base/outgoing-http.ts';
import type { AddressRules } from '../tools/network/find-addresses.ts';
import { openRequest } from '../tools/mcp/open-request.ts';

/** The response of another server, up to the limit of bytes. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly isTruncated: boolean;
}

interface OutgoingText {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface ReceiveLimits {
  readonly withinMs: number;
  readonly bytesMax: number;
  /** Whether reading stops after this line. An event stream may never end. */
  readonly isLast?: (line: string) => boolean;
}

/**
 * Sends a request and reads the response, within limits of time and size. Undefined without a response: no connection, no response in
 * time, or an address that is not allowed. Redirects are not followed.
 */
export async function sendRequest(
  connections: Connections,
  { url, method, headers, body }: OutgoingText,
  rules: AddressRules,
  { withinMs, bytesMax, isLast = () => false }: ReceiveLimits,
): Promise<ReceivedResponse | undefined> {
  const stop = new AbortController();
  const patience = setTimeout(() => stop.abort(), withinMs);
  try {
    const request = { url: new URL(url), method, headers, body, signal: stop.signal, connectMs: withinMs };
    const answer = await openRequest(connections, request, rules);
    const parts: Buffer[] = [];
    let bytes = 0;
    let isTruncated = false;
    const findEnd = createEndFinder(isLast);
    for await (const part of answer as AsyncIterable<Buffer>) {
      const end = findEnd(part);
      parts.push(part.subarray(0, Math.min(bytesMax - bytes, end ?? part.length)));
      bytes += part.length;
      isTruncated = end === undefined && bytes > bytesMax;
      if (isTruncated || end !== undefined) break;
    }
    // A `break` out of the loop has closed the connection.
    const { statusCode: status = 0, headers: received } = answer;
    return { status, headers: received, body: Buffer.concat(parts).toString(), isTruncated };
  } catch {
    // The reason of the failure is dropped: it could reveal facts about hosts in the network of this server.
    return undefined;
  } finally {
    clearTimeout(patience);
  }
}

/** Finds the end of the first line that is the last one to read. Scans each byte once, however the bytes are split into parts. */
function createEndFinder(isLast: (line: string) => boolean): (part: Buffer) => number | undefined {
  const line: Buffer[] = [];
  return (part) => {
    let from = 0;
    for (let at = part.indexOf(LINE_FEED); at !== -1; at = part.indexOf(LINE_FEED, from)) {
      line.push(part.subarray(from, at));
      from = at + 1;
      if (isLast(Buffer.concat(line.splice(0)).toString())) return from;
    }
    line.push(part.subarray(from));
    return undefined;
  };
}

const LINE_FEED = 0x0a;

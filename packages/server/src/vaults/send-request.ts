import type { Connections } from '../base/outgoing-http.ts';
import type { AddressRules } from '../tools/network/find-addresses.ts';
import { openRequest } from '../tools/mcp/open-request.ts';

/** A whole response of another server, as far as it was read. */
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
  /** Whether nothing behind this line is wanted. An event stream need not end. */
  readonly isLast?: (line: string) => boolean;
}

/**
 * Sends a request and reads the response, within a time and a size. Undefined if there is none: no connection, no answer in
 * time, an address that may not be connected to. Redirects are not followed.
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
    // Leaving the loop early has closed the connection.
    const { statusCode: status = 0, headers: received } = answer;
    return { status, headers: received, body: Buffer.concat(parts).toString(), isTruncated };
  } catch {
    // Which of the many ways to fail it was says nothing that a caller may know about hosts in this network.
    return undefined;
  } finally {
    clearTimeout(patience);
  }
}

/** Finds where the last line that is wanted ends. Looks at each byte once, in however many parts they come. */
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

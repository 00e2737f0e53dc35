import { dropBody, type IncomingAnswer } from '../../base/outgoing-http.ts';
import { McpFault } from './mcp-fault.ts';

/** The kind of a sent message. `stream`: the response is an endless stream of notifications. `notice`: no response is expected. */
export type MessageKind = 'request' | 'stream' | 'notice';

/** Opens the body of a response in its form. `isRefusal`: the body is the reason of a status 400. */
export type OpenBody = (form: 'events' | 'json', isRefusal: boolean) => ReadableStream<Uint8Array>;

/** Converts a response for the library. Its body is opened only if the library uses it. */
export function toResponse(incoming: IncomingAnswer, kind: MessageKind, openBody: OpenBody): Response {
  const status = incoming.statusCode ?? 0;
  if (status < 200 || status > 599) {
    incoming.destroy();
    throw new McpFault('broken', `it answered with status ${status}, which does not exist`);
  }
  const form = findForm(incoming, status, kind);
  if (form === undefined) dropBody(incoming);
  else if ((incoming.headers['content-encoding'] ?? 'identity') !== 'identity') {
    incoming.destroy();
    throw new McpFault('broken', 'it compressed its answer, although it was asked not to');
  }
  const body = form === undefined ? null : openBody(form, status === BAD_REQUEST);
  return new Response(body, { status, headers: toHeaders(incoming) });
}

function findForm({ headers }: IncomingAnswer, status: number, kind: MessageKind): 'events' | 'json' | undefined {
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  const isRead = kind !== 'notice' && ((status < 300 && status !== ACCEPTED) || status === BAD_REQUEST);
  if (!isRead || NO_CONTENT.includes(status)) return undefined;
  if (type === 'text/event-stream' && status !== BAD_REQUEST) return 'events';
  // Any other type is not part of the protocol.
  return type === 'application/json' ? 'json' : undefined;
}

const ACCEPTED = 202;
const BAD_REQUEST = 400;
/** A response with such a status cannot have a body. */
const NO_CONTENT = [204, 205];

function toHeaders({ rawHeaders }: IncomingAnswer): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    // Skips headers that `Headers` rejects, because Node's parser accepts more.
    try {
      headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
    } catch {
      throw new McpFault('broken', 'a header of its answer is not valid');
    }
  }
  return headers;
}

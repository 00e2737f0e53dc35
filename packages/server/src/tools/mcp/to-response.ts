import { dropBody, type IncomingAnswer } from '../../base/outgoing-http.ts';
import { McpFault } from './mcp-fault.ts';

/** `stream`: a request that is answered with notifications, without an end. `notice`: nothing is expected back. */
export type MessageKind = 'request' | 'stream' | 'notice';

/** Opens the body of an answer, in the form that it has. A refusal has the reason of a status 400. */
export type OpenBody = (form: 'events' | 'json', isRefusal: boolean) => ReadableStream<Uint8Array>;

/** An answer as the library knows it. Its body is only opened where the library has a use for it. */
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
    // They have come through Node's own parser, which lets more through than this does.
    try {
      headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
    } catch {
      throw new McpFault('broken', 'a header of its answer is not valid');
    }
  }
  return headers;
}

import { type SseItem, SseDecoder } from '@fleetloom/protocol/sse';
import { answerForm } from '../forms/answer-form.ts';
import { streamEventForm } from '../forms/event-forms.ts';

/** A request that the SDK sent, with the status of its response. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly status: number;
}

/** A `fetch` for the SDK that compares every response with the wire contract. */
export interface CheckedFetch {
  readonly fetch: typeof fetch;
  /** The requests that were sent, and their responses. */
  readonly requests: readonly SeenRequest[];
  /** Differences between responses and the wire contract. */
  readonly problems: readonly string[];
}

/**
 * A `fetch` that checks every response, field by field, and returns it unchanged. The official SDK takes it as an option, so
 * that every check also checks the form of each response.
 */
export function createCheckedFetch(signal: AbortSignal): CheckedFetch {
  const requests: SeenRequest[] = [];
  const problems: string[] = [];

  const checked: typeof fetch = async (input, init) => {
    const given = init?.signal ?? undefined;
    const { url, method, headers } = describeRequest(input, init);
    const { pathname: path, protocol } = new URL(url);
    // The SDK detects features of a fetch with a request for a `data:` URL, which is not sent to a server.
    if (protocol === 'data:') return fetch(input, init);
    // Not passed as a new Request: in Node 20 only the Request object references its signal. Once that object is garbage-collected,
    // its stream can no longer be closed. The server then counts the stream as a reader that has received everything.
    const both = AbortSignal.any(given === undefined ? [signal] : [signal, given]);
    const response = await fetch(input, { ...init, signal: both });
    const { status } = response;
    requests.push({ method, path, headers, status });
    const where = `${method} ${path} → ${status}`;
    checkHeaders(response, where, (problem) => problems.push(problem));
    const form = answerForm(method, path, status);
    if (form === 'stream') return watchStream(response, (problem) => problems.push(`${where}: ${problem}`));
    if (form !== undefined && isJson(response)) {
      const body: unknown = await response.clone().json();
      problems.push(...form(body, 'body').map((problem) => `${where}: ${problem}`));
    }
    return response;
  };
  return { fetch: checked, requests, problems };
}

function describeRequest(input: Parameters<typeof fetch>[0], init: RequestInit | undefined) {
  const known = input instanceof Request ? input : undefined;
  return {
    url: known?.url ?? (input as string | URL).toString(),
    method: (init?.method ?? known?.method ?? 'GET').toUpperCase(),
    headers: new Headers(init?.headers ?? known?.headers),
  };
}

function isJson({ headers }: Response): boolean {
  return /^application\/json\b/.test(headers.get('content-type') ?? '');
}

function checkHeaders(response: Response, where: string, onProblem: (problem: string) => void): void {
  const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream');
  if (!response.headers.has('request-id')) onProblem(`${where}: the header request-id is missing`);
  if (!isStream && !isJson(response)) onProblem(`${where}: is ${response.headers.get('content-type')}, not JSON`);
}

function watchStream(response: Response, onProblem: (problem: string) => void): Response {
  if (!(response.headers.get('content-type') ?? '').startsWith('text/event-stream'))
    onProblem('is not an event stream');
  if (response.headers.has('content-encoding')) onProblem('is compressed');
  const decoder = new SseDecoder();
  const look = (item: SseItem) => {
    if (item.type === 'event' && item.event !== 'ping') for (const problem of checkFrame(item)) onProblem(problem);
    if (item.type === 'cut') onProblem(`the stream ends inside a frame, ${item.bytes} bytes of it`);
  };
  const body = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        for (const item of decoder.push(chunk)) look(item);
        controller.enqueue(chunk);
      },
      flush: () => {
        for (const item of decoder.end()) look(item);
      },
    }),
  );
  return new Response(body ?? null, { status: response.status, headers: response.headers });
}

function checkFrame({ event, data }: { readonly event: string; readonly data: string }): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return [`data is not JSON: ${data.slice(0, 200)}`];
  }
  // The last frame before a server closes the stream can be an error, which is not an event.
  if (event === 'error') return [];
  const { type } = (value ?? {}) as { type?: unknown };
  return [
    ...(type === event ? [] : [`event: ${event} has the type ${JSON.stringify(type)}`]),
    ...streamEventForm(value, 'event'),
  ];
}

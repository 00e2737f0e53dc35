import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

// The requests of Anthropic's Python client (0.121 to 1.13), byte for byte. They were derived from its source, because the
// package cannot be installed without PyPI.

type Query = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export interface PythonOptions {
  readonly url: string;
  readonly key: string;
  /** `async` is the client for asyncio. */
  readonly kind?: 'sync' | 'async';
  /** How lists are encoded in a query: with brackets, or repeated in early versions. */
  readonly lists?: 'brackets' | 'repeat';
}

export interface PythonRequest {
  readonly query?: Query;
  readonly body?: object;
  readonly betas?: readonly string[];
  /** Headers that a method of the client sets itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The number of earlier attempts. */
  readonly retries?: number;
  /** A file, as httpx encodes it. */
  readonly file?: { readonly name: string; readonly type: string; readonly content: string };
}

export interface PythonAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // Tests compare every field that they read.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

/** Sends requests as the Python client does. */
export class PythonClient {
  readonly #options: PythonOptions;

  constructor(options: PythonOptions) {
    this.#options = options;
  }

  get(path: string, given: PythonRequest = {}): Promise<PythonAnswer> {
    return this.#send('GET', path, given);
  }

  post(path: string, given: PythonRequest = {}): Promise<PythonAnswer> {
    return this.#send('POST', path, given);
  }

  delete(path: string, given: PythonRequest = {}): Promise<PythonAnswer> {
    return this.#send('DELETE', path, given);
  }

  /** An event stream that is not read yet. The client sends the same headers as for JSON, compression included. */
  open(path: string, given: PythonRequest = {}): Promise<IncomingMessage> {
    return this.#ask('GET', path, given);
  }

  async #send(method: string, path: string, given: PythonRequest): Promise<PythonAnswer> {
    const response = await this.#ask(method, path, given);
    const text = (await buffer(response)).toString('utf8');
    const isJson = (response.headers['content-type'] ?? '').startsWith('application/json');
    const json: unknown = isJson ? JSON.parse(text) : undefined;
    return { status: response.statusCode ?? 0, headers: response.headers, text, json };
  }

  #ask(method: string, path: string, given: PythonRequest): Promise<IncomingMessage> {
    const { url, lists = 'brackets' } = this.#options;
    const query = toQuery({ beta: true, ...given.query }, lists);
    const { content, type } = toContent(given);
    const headers = this.#headers(method, given, content, type);
    return new Promise((resolve, reject) => {
      const asked = request(`${url}${path}?${query}`, { method, headers }, resolve);
      asked.on('error', reject);
      asked.end(content);
    });
  }

  #headers(
    method: string,
    { betas = [], headers = {}, retries = 0 }: PythonRequest,
    content: string | undefined,
    type: string,
  ): Record<string, string> {
    const { key, kind = 'sync' } = this.#options;
    // Even a POST without a body has a JSON content type; only GET does not.
    const about = method === 'GET' ? {} : { 'Content-Type': type };
    const length = content === undefined ? (method === 'POST' ? 0 : undefined) : Buffer.byteLength(content);
    return {
      Accept: 'application/json',
      'Accept-Encoding': 'gzip, deflate, br, zstd',
      Connection: 'keep-alive',
      'User-Agent': `${kind === 'sync' ? 'Anthropic' : 'AsyncAnthropic'}/Python 1.13.0`,
      'X-Stainless-Lang': 'python',
      'X-Stainless-Package-Version': '1.13.0',
      'X-Stainless-OS': 'Linux',
      'X-Stainless-Arch': 'x64',
      'X-Stainless-Runtime': 'CPython',
      'X-Stainless-Runtime-Version': '3.12.3',
      'X-Stainless-Async': kind === 'sync' ? 'false' : 'async:asyncio',
      'anthropic-version': '2023-06-01',
      'X-Api-Key': key,
      'anthropic-beta': [...betas, 'managed-agents-2026-04-01'].join(','),
      'x-stainless-timeout': 'NOT_GIVEN',
      'x-stainless-retry-count': String(retries),
      'x-stainless-read-timeout': '600',
      ...about,
      ...(length === undefined ? {} : { 'Content-Length': String(length) }),
      ...headers,
    };
  }
}

/** As `urllib.parse.urlencode` writes it: brackets and colons as %…, spaces as +. */
function toQuery(query: Query, lists: 'brackets' | 'repeat'): string {
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (typeof value !== 'object') return [[name, String(value)]];
    return value.map((each) => [lists === 'brackets' ? `${name}[]` : name, each]);
  });
  return new URLSearchParams(pairs).toString();
}

const BOUNDARY = '5c1a9b7e0d2f4863';

function toContent({ body, file }: PythonRequest): { content: string | undefined; type: string } {
  if (file === undefined) {
    // Compact, without escaping letters.
    return { content: body === undefined ? undefined : JSON.stringify(body), type: 'application/json' };
  }
  const head = `Content-Disposition: form-data; name="file"; filename="${file.name}"\r\nContent-Type: ${file.type}`;
  const content = `--${BOUNDARY}\r\n${head}\r\n\r\n${file.content}\r\n--${BOUNDARY}--\r\n`;
  return { content, type: `multipart/form-data; boundary=${BOUNDARY}` };
}

/** Events as the Python client yields them: only whole frames with event names that it knows. */
export async function* readPython(response: AsyncIterable<Uint8Array>): AsyncGenerator<{ type: string; id?: string }> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response) {
    rest += decoder.decode(chunk, { stream: true });
    const frames = rest.split(/\r\n\r\n|\n\n|\r\r/);
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const lines = frame.split(/\r\n|\n|\r/);
      const fieldsOf = (name: string) =>
        lines
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
      const name = fieldsOf('event').at(-1) ?? '';
      const data = fieldsOf('data').join('\n');
      if (name === 'error') throw new Error(data);
      // A known event name with data that is not JSON makes the client fail.
      if (KNOWN.test(name)) yield JSON.parse(data);
    }
  }
}

/** Event names that the client knows; `session.usage` and names of Fleetloom are not among them. */
const KNOWN =
  /^(message|user\.(message|interrupt|tool_confirmation|custom_tool_result|tool_result|define_outcome)|system\.message|agent\.\w+|session\.(status_\w+|error|deleted|updated|thread_\w+)|span\.\w+|event_(start|delta)|workflow_run\.\w+)$/;

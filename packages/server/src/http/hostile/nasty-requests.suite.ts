import type { RandomText } from '../../../../../bench/random-text.ts';
import type { RawAnswer, RawRequest } from './raw-http.suite.ts';
import { brokenBodies, nastyJson, nastyTexts } from './nasty-values.suite.ts';

// Requests to every route of an OpenAPI document, mostly valid, with a few nasty values.

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  readonly body: Schema | undefined;
}

/** The parts of JSON Schema that the document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly format?: string;
  readonly minimum?: number;
  readonly minItems?: number;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface DocumentedOperation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
}

export function readOperations({ paths }: Document): Operation[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.filter((each) => each.in === 'query').map(({ name }) => name),
      body: requestBody?.content['application/json'].schema,
    })),
  );
}

export interface NastyRequestOptions {
  readonly document: Document;
  readonly random: RandomText;
  readonly key: string;
  /** Ids that exist, by the name of the parameter: `agent_id`. */
  readonly known: KnownIds;
}

/** Mutable: ids made by a request are used by the requests after it. */
export type KnownIds = Record<string, string[]>;

/** Remembers the newest ids of each kind in a response, and forgets deleted ones. */
export function learnIds(known: KnownIds, { method, target }: RawRequest, { status, text }: RawAnswer): void {
  if (status !== 200) return;
  if (method === 'DELETE') {
    for (const ids of Object.values(known))
      for (const id of ids) if (target.includes(id)) ids.splice(ids.indexOf(id), 1);
    return;
  }
  for (const [id, prefix] of text
    .slice(0, 100_000)
    .matchAll(/\b(agent|env|sesn|file|sthr|work|sesrsc|req|key|vlt|vcrd|vflow)_\w{16,}/g)) {
    // Only keys that these requests have created: if a run revoked its own key, all later requests would be rejected.
    if (prefix === 'key' && !(method === 'POST' && /\/keys(?:\?|$)/.test(target))) continue;
    const ids = (known[PARAMETERS[prefix as keyof typeof PARAMETERS]] ??= []);
    if (ids.includes(id)) continue;
    ids.push(id);
    if (ids.length > 6) ids.shift();
  }
}

const PARAMETERS = {
  agent: 'agent_id',
  env: 'environment_id',
  sesn: 'session_id',
  file: 'file_id',
  sthr: 'thread_id',
  work: 'work_id',
  sesrsc: 'resource_id',
  req: 'request_id',
  key: 'key_id',
  vlt: 'vault_id',
  vcrd: 'credential_id',
  vflow: 'flow_id',
} as const;

/** Generates requests; the same seed generates the same ones. */
export function createNastyRequests({ document, random, key, known }: NastyRequestOptions): () => RawRequest {
  const operations = [...readOperations(document), ...OTHERS];
  const chance = (share: number) => random.next() < share;

  return () => {
    let operation = random.pick(operations);
    // Fewer deletions, so that most ids stay valid.
    if (/^DELETE|archive$/.test(`${operation.method} ${operation.path}`) && chance(0.7))
      operation = random.pick(operations);
    if (operation.path === '/v1/files' && operation.method === 'POST') return toUpload();
    const method = chance(0.04) ? random.pick(METHODS) : operation.method;
    const target = `${toPath(operation.path)}${toQuery(operation.query)}`;
    const body = method === 'POST' ? toBody(operation) : chance(0.03) ? random.pick(nastyJson) : undefined;
    return { method, target, headers: toHeaders(), body };
  };

  function toUpload(): RawRequest {
    const text = () =>
      random
        .pick(nastyTexts)
        .replaceAll('"', '%22')
        .replaceAll(/[\r\n]/g, '');
    const name = chance(0.8) ? 'file' : text();
    const lines = [
      `--X`,
      `content-disposition: form-data; name="${name}"; filename="${chance(0.5) ? 'a.txt' : text()}"`,
      ...(chance(0.7) ? [`content-type: ${text()}`] : []),
      '',
      random.pick(nastyTexts),
      ...(chance(0.2) ? ['--X', 'content-disposition: form-data; name="expires_in_seconds"', '', text()] : []),
      chance(0.95) ? '--X--' : text(),
    ];
    const type = chance(0.95) ? 'multipart/form-data; boundary=X' : toHeader(text());
    return {
      method: 'POST',
      target: '/v1/files',
      headers: [...toHeaders(), ['content-type', type]],
      body: lines.join('\r\n'),
    };
  }

  function toPath(path: string): string {
    return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const share = random.next();
      if (share < 0.75 && (known[name]?.length ?? 0) > 0) return random.pick(known[name]!);
      return share < 0.97 ? encode(random.pick(nastyTexts)) : toTarget(random.pick(nastyTexts));
    });
  }

  function toQuery(names: readonly string[]): string {
    const pairs: string[] = [];
    for (const name of names) if (chance(0.3)) pairs.push(`${name}=${toQueryValue(name)}`);
    if (chance(0.15)) pairs.push(`${encode(random.pick(nastyTexts))}=${toQueryValue('')}`);
    if (chance(0.05) && names.length > 0) pairs.push(`${random.pick(names)}[]=${toQueryValue('')}`);
    if (chance(0.05) && names.length > 0) pairs.push(`${random.pick(names)}[__proto__]=1`);
    if (chance(0.03)) pairs.push(random.pick(['&&&', '=', '%zz=%zz', '%00', 'a=%ff', '[]=1', '?', '#']));
    return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  }

  function toQueryValue(name: string): string {
    if (name === 'limit' && chance(0.5)) return String(1 + random.below(20));
    // No work is queued in this test, so the poll must be short.
    if (name === 'block_ms' && chance(0.7)) return '1';
    if ((known[name]?.length ?? 0) > 0 && chance(0.6)) return random.pick(known[name]!);
    return encode(random.pick(nastyTexts));
  }

  function toHeaders(): (readonly [string, string])[] {
    const headers: (readonly [string, string])[] = [];
    if (!chance(0.05))
      headers.push(['authorization', `Bearer ${chance(0.95) ? key : toHeader(random.pick(nastyTexts))}`]);
    if (chance(0.1)) headers.push(['content-type', toHeader(random.pick(nastyTexts))]);
    if (chance(0.1)) headers.push([random.pick(HEADERS), toHeader(random.pick(nastyTexts))]);
    if (chance(0.05)) headers.push([random.pick(['__proto__', 'constructor', 'toString', 'x-y']), '1']);
    return headers;
  }

  function toBody({ body }: Operation): string | Uint8Array | undefined {
    if (chance(0.05)) return undefined;
    if (chance(0.05)) return random.pick(brokenBodies);
    if (body === undefined) return chance(0.5) ? '{}' : random.pick(nastyJson);
    return toJson(body, '', chance(0.25) ? 0 : 0.03 + random.next() * 0.12, 0);
  }

  /** JSON for a schema. Each part is replaced by a nasty value with this probability. */
  function toJson(schema: Schema, name: string, wildness: number, depth: number): string {
    if (chance(wildness)) return chance(0.5) ? random.pick(nastyJson) : JSON.stringify(random.pick(nastyTexts));
    if (schema.$ref !== undefined) return toJson(resolve(schema.$ref), name, wildness, depth);
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum !== undefined) return JSON.stringify(random.pick(schema.enum));
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (alternatives !== undefined) return toJson(random.pick(alternatives), name, wildness, depth + 1);
    if (schema.allOf !== undefined) return toJson(schema.allOf[0]!, name, wildness, depth);
    const type = typeof schema.type === 'string' ? schema.type : random.pick(schema.type ?? ['null']);
    if (type === 'object') return toObject(schema, wildness, depth);
    if (type === 'array') {
      const count = depth > 8 ? (schema.minItems ?? 0) : Math.max(schema.minItems ?? 0, random.below(3));
      return `[${Array.from({ length: count }, () => toJson(schema.items ?? {}, name, wildness, depth + 1)).join()}]`;
    }
    if (type === 'string') return JSON.stringify(toText(schema, name));
    // A followed import holds the lease of its session for a minute; changes of that session wait for it.
    if (type === 'boolean') return String(name === 'is_end' || chance(0.5));
    if (type === 'integer' || type === 'number') return String(Math.max(schema.minimum ?? 0, random.below(5)));
    return 'null';
  }

  function toObject({ properties = {}, required = [] }: Schema, wildness: number, depth: number): string {
    const names = Object.keys(properties).filter((name) => required.includes(name) || (depth < 8 && chance(0.25)));
    const pairs = names.map(
      (name) => `${JSON.stringify(name)}:${toJson(properties[name]!, name, wildness, depth + 1)}`,
    );
    if (Object.keys(properties).length === 0 || chance(wildness)) {
      pairs.push(`${JSON.stringify(random.pick(nastyTexts))}:${JSON.stringify(random.pick(nastyTexts))}`);
    }
    if (chance(wildness) && pairs.length > 0) pairs.push(random.pick(pairs));
    return `{${pairs.join()}}`;
  }

  function toText({ format }: Schema, name: string): string {
    const ids = known[name] ?? known[`${name}_id`] ?? [];
    if (ids.length > 0) return random.pick(ids);
    if (format === 'date-time') return '2026-01-01T00:00:00Z';
    if (format === 'uri') return 'https://mcp.invalid/';
    return chance(0.3)
      ? random.pick(nastyTexts)
      : random.pick(['a', 'name', 'scripted/echo', 'text/plain', 'iVBORw0=']);
  }

  function resolve(reference: string): Schema {
    return document.components.schemas[reference.slice(reference.lastIndexOf('/') + 1)] ?? {};
  }
}

/** Routes that are not in the document. */
const OTHERS: readonly Operation[] = [
  { method: 'GET', path: '/', query: [], body: undefined },
  { method: 'GET', path: '/login', query: ['code'], body: undefined },
  { method: 'POST', path: '/login', query: [], body: undefined },
  { method: 'POST', path: '/logout', query: [], body: undefined },
  { method: 'GET', path: '/assets/{file}', query: [], body: undefined },
  { method: 'GET', path: '/scripted/v1/models', query: ['limit', 'after_id', 'before_id'], body: undefined },
  { method: 'GET', path: '/scripted/v1/models/{id}', query: [], body: undefined },
  {
    method: 'POST',
    path: '/scripted/v1/messages',
    query: [],
    body: {
      type: 'object',
      required: ['model', 'max_tokens', 'messages'],
      properties: {
        model: { type: 'string' },
        max_tokens: { type: 'integer', minimum: 1 },
        system: { type: 'string' },
        tools: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
        messages: {
          type: 'array',
          items: {
            type: 'object',
            required: ['role', 'content'],
            properties: { role: { enum: ['user', 'assistant'] }, content: { type: 'string' } },
          },
        },
      },
    },
  },
  {
    method: 'POST',
    path: '/scripted/v1/responses',
    query: [],
    body: {
      type: 'object',
      required: ['model', 'input'],
      properties: {
        model: { type: 'string' },
        instructions: { type: 'string' },
        tools: { type: 'array', items: { type: 'object', properties: { type: { enum: ['function', 'custom'] } } } },
        input: {
          type: 'array',
          items: {
            type: 'object',
            required: ['role', 'content'],
            properties: { role: { enum: ['user', 'assistant', 'developer'] }, content: { type: 'string' } },
          },
        },
      },
    },
  },
];

/** Percent-encoded bytes; a lone surrogate as browsers encode it. */
function encode(text: string): string {
  return [...Buffer.from(text.slice(0, 2_000))]
    .map((byte) => (/[\w.~-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : toPercent(byte)))
    .join('');
}

function toPercent(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`;
}

/** Unencoded, without white space that would end the target. */
function toTarget(text: string): string {
  return Buffer.from(text.replaceAll(/\s/g, '').replaceAll('\0', ''), 'utf8').toString('latin1');
}

function toHeader(text: string): string {
  return Buffer.from(text.replaceAll(/[\r\n]/g, '').replaceAll('\0', ''), 'utf8').toString('latin1');
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
const HEADERS = [
  'idempotency-key',
  'x-stainless-retry-count',
  'last-event-id',
  'anthropic-worker-id',
  'anthropic-beta',
  'anthropic-version',
  'accept-encoding',
  'content-encoding',
  'cookie',
  'expect',
  'if-none-match',
  'range',
  'upgrade',
  'x-api-key',
  'x-forwarded-proto',
];

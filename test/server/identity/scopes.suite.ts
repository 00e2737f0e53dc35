import { request } from 'node:http';
import { openKeys } from '../../../packages/server/src/composition/credentials/open-keys.ts';
import type { NewApiKey } from '../../../packages/server/src/keys/key-store.ts';
import type { FleetloomServer } from '../../../packages/server/src/server.ts';
import type { TestServer } from '../server.suite.ts';

type NewApi = Omit<Extract<NewApiKey, { kind: 'api' }>, 'kind' | 'name'>;

/** Creates a key as the CLI does, and returns it when the server knows it. */
export async function createTestKey(test: TestServer, fields: NewApi): Promise<{ secret: string; id: string }> {
  const { keys, close } = await openKeys({ dataDirectory: test.directory });
  const { secret, key } = await keys.create({ kind: 'api', name: 'limited', ...fields });
  await close();
  while ((await send(test.server, 'GET', '/v1/models/none', { 'x-api-key': secret })).status === 401) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { secret, id: key.id };
}

/** What a server answered. Streams are left after their headers. */
export interface Sent {
  readonly status: number;
  readonly text: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  /** Of an error: its type, code and details. */
  readonly error: { readonly type?: string; readonly message?: string; readonly details?: Record<string, unknown> };
}

/** Sends the path exactly as it is given: no client in between resolves or encodes it. */
export async function send(
  { port }: Pick<FleetloomServer, 'port'>,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
): Promise<Sent> {
  return await new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    // Without the length, clients send a body of OPTIONS in a form that is not HTTP.
    const length = String(Buffer.byteLength(text ?? ''));
    const type = text === undefined ? {} : { 'content-type': 'application/json', 'content-length': length };
    const sent = request({ host: '127.0.0.1', port, method, path, headers: { ...type, ...headers }, agent: false });
    sent.on('error', (cause) => reject(new Error(`${method} ${path} was cut off`, { cause })));
    sent.on('response', (response) => {
      const { statusCode: status = 0 } = response;
      if (String(response.headers['content-type']).includes('event-stream')) {
        sent.destroy();
        return resolve({ status, text: '', headers: response.headers, error: {} });
      }
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const answer = Buffer.concat(chunks).toString();
        resolve({ status, text: answer, headers: response.headers, error: toError(answer) });
      });
    });
    sent.end(text);
  });
}

function toError(text: string): Sent['error'] {
  try {
    return (JSON.parse(text) as { error?: Sent['error'] }).error ?? {};
  } catch {
    return {};
  }
}

/** Signs a browser in with a login link of a role, as `fleetloom open --role` makes it. Returns its cookie. */
export async function signInAs(test: TestServer, role: string | undefined, key = test.key): Promise<string> {
  const link = await send(
    test.server,
    'POST',
    '/v1/login_links',
    { 'x-api-key': key },
    role === undefined ? {} : { role },
  );
  const { path } = JSON.parse(link.text) as { path: string };
  const visit = await send(test.server, 'GET', path, {});
  return (visit.headers['set-cookie'] as string[])[0]!.split(';')[0]!;
}

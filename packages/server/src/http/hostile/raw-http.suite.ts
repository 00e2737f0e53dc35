import { connect, type Socket } from 'node:net';

// Raw HTTP: the clients of Node reject most malformed requests.

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** False when the connection closed before the announced length had arrived. */
  readonly isWhole: boolean;
}

export interface RawRequest {
  readonly method: string;
  /** The request target, sent unchanged, one byte for each character. */
  readonly target: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: Uint8Array | string | undefined;
}

/** Sends one request on a connection of its own. Event streams are left after their headers. */
export async function sendRaw(port: number, request: RawRequest, timeoutMs = 20_000): Promise<RawAnswer> {
  const { method, target, headers = [], body } = request;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(names.has('host') ? [] : [`host: 127.0.0.1:${port}`]),
    'connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(bytes === undefined || names.has('content-length') ? [] : [`content-length: ${bytes.length}`]),
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  const [answer] = await exchangeBytes(port, bytes === undefined ? head : Buffer.concat([head, bytes]), timeoutMs);
  if (answer === undefined) throw new Error(`${method} ${target.slice(0, 200)} was not answered`);
  return answer;
}

/** Writes bytes and returns all responses until the server closes, an event stream begins, or the time is over. */
export async function exchangeBytes(
  port: number,
  bytes: Uint8Array | string,
  timeoutMs = 20_000,
): Promise<RawAnswer[]> {
  const socket = await openRaw(port);
  return await new Promise((resolve) => {
    const received: Buffer[] = [];
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(parseAnswers(Buffer.concat(received)));
    };
    const timer = setTimeout(finish, timeoutMs);
    socket.on('data', (chunk: Buffer) => {
      received.push(chunk);
      const isStream = /\r\ncontent-type: text\/event-stream/i.test(received[0]!.subarray(0, 2_000).toString('latin1'));
      if (isStream) finish();
    });
    socket.on('close', finish);
    socket.write(bytes);
  });
}

/** A connection whose errors are ignored. */
export async function openRaw(port: number, localAddress?: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', ...(localAddress === undefined ? {} : { localAddress }) });
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', () => resolve()));
  return socket;
}

/** Resolves when the connection is closed, also by an error. */
export async function untilClosed(socket: Socket): Promise<void> {
  if (!socket.destroyed) await new Promise<void>((resolve) => socket.once('close', () => resolve()));
}

function parseAnswers(received: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = received;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) break;
    const [first, ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first!)?.[1] ?? 0);
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    rest = rest.subarray(end + 4);
    if (status === 100) continue;
    const length = headers['content-length'];
    const body = length === undefined ? rest : rest.subarray(0, Number(length));
    const isWhole = length === undefined || body.length === Number(length);
    answers.push({ status, headers, text: body.toString(), isWhole });
    rest = rest.subarray(body.length);
  }
  return answers;
}

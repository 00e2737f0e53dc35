import { Agent, type IncomingMessage, request as sendRequest } from 'node:http';
import type { Socket } from 'node:net';
import { programLimits } from '../../limits.ts';
import { readAnswer } from './read-answer.ts';

/** Requests to one opencode server. */
export interface OpencodeClient {
  /** Sends a request. Rejects without a response; an error response resolves with its status. */
  send(method: string, path: string, body?: unknown): Promise<OpencodeAnswer>;
  /** Opens a stream that does not end on its own. `onEnd` is called once. */
  stream(path: string, handlers: StreamHandlers): void;
  close(): void;
}

/** The response to a request. */
export interface OpencodeAnswer {
  readonly status: number;
  /** The parsed JSON; null for an empty body. */
  readonly body: unknown;
}

/** Receives a stream. */
export interface StreamHandlers {
  readonly onBytes: (bytes: Uint8Array, response: IncomingMessage) => void;
  readonly onEnd: () => void;
}

/** Options of a client. */
export interface ClientOptions {
  /** The working directory of the requests. */
  readonly directory: string;
  readonly password: string;
  /** The port of the server on this machine, or a function that opens connections to it. */
  readonly target: { readonly port: number } | { readonly connect: () => Promise<Socket> };
  readonly answerMs?: number | undefined;
  readonly answerBytesMax?: number | undefined;
  readonly answerValuesMax?: number | undefined;
}

/** Creates the client of one server. */
export function createClient({ directory, password, target, ...limits }: ClientOptions): OpencodeClient {
  const {
    answerMs = programLimits.opencodeAnswerMs,
    answerBytesMax: bytesMax = programLimits.opencodeAnswerBytesMax,
    answerValuesMax: valuesMax = programLimits.opencodeAnswerValuesMax,
  } = limits;
  const agent = new Agent({ keepAlive: true });
  if ('connect' in target) {
    // The callback form: the connection comes later.
    agent.createConnection = (_, onCreated) => {
      target.connect().then(
        (socket) => onCreated?.(null, socket),
        (error: unknown) => onCreated?.(error instanceof Error ? error : new Error(String(error)), undefined as never),
      );
      return undefined;
    };
  }
  const authorization = `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}`;
  const port = 'port' in target ? target.port : undefined;
  const toOptions = (method: string, path: string, body: string | undefined) => {
    const query = `${path.includes('?') ? '&' : '?'}directory=${encodeURIComponent(directory)}`;
    const content =
      body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    return { agent, host: '127.0.0.1', port, method, path: `${path}${query}`, headers: { authorization, ...content } };
  };

  return {
    send: (method, path, value) =>
      new Promise((resolve, reject) => {
        const body = value === undefined ? undefined : JSON.stringify(value);
        const request = sendRequest(toOptions(method, path, body), (response) => {
          readAnswer(response, { bytesMax, valuesMax }).then(
            (answer) => resolve({ status: response.statusCode ?? 0, body: answer }),
            reject,
          );
        });
        request.setTimeout(answerMs, () =>
          request.destroy(new Error(`opencode did not answer within ${answerMs / 1000} s`)),
        );
        request.on('error', reject);
        request.end(body);
      }),
    stream: (path, { onBytes, onEnd }) => {
      let isEnded = false;
      const end = () => {
        if (isEnded) return;
        isEnded = true;
        onEnd();
      };
      const request = sendRequest(toOptions('GET', path, undefined), (response) => {
        response.on('data', (bytes: Buffer) => onBytes(bytes, response));
        response.on('close', end).on('error', end);
      });
      request.on('error', end);
      request.end();
    },
    close: () => agent.destroy(),
  };
}

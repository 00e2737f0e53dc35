import { createServer, type Server } from 'node:http';
import { FleetloomError } from '../../../base/errors.ts';
import { createScriptedHandler, type ScriptedHandlerOptions } from './http/handler.ts';
import { createScriptedModel, type ScriptedModelOptions } from './model.ts';

/** Options of a server for the scripted model. */
export interface ServeScriptedModelOptions extends ScriptedModelOptions, Omit<ScriptedHandlerOptions, 'model'> {
  host?: string | undefined;
  /** The port; 0, the default, selects any free port. */
  port?: number | undefined;
}

/** A running server for the scripted model. */
export interface ScriptedModelServer {
  readonly host: string;
  readonly port: number;
  /** The base URL for clients. */
  readonly url: string;
  /** Ends all responses in progress, and resolves when all connections are closed. */
  close(): Promise<void>;
}

/**
 * The scripted model as an HTTP endpoint that any client of the Messages or Responses API can talk to.
 *
 * @example
 * const server = await serveScriptedModel({ port: 4010 });
 * const client = new Anthropic({ baseURL: server.url, apiKey: 'any' });
 */
export async function serveScriptedModel(options: ServeScriptedModelOptions = {}): Promise<ScriptedModelServer> {
  const { host = '127.0.0.1', port = 0, basePath = '' } = options;
  const model = createScriptedModel(options);
  // Fails early if the directory cannot be read.
  await model.listScripts();
  const server = createServer(createScriptedHandler({ ...options, model }));
  const actualPort = await listen(server, host, port);
  const shownHost = host.includes(':') ? `[${host}]` : host;
  let closing: Promise<void> | undefined;
  return {
    host,
    port: actualPort,
    url: `http://${shownHost}:${actualPort}${basePath}`,
    close: () => (closing ??= close(server)),
  };
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    // This listener is not removed: without a free descriptor every failed `accept` is an error of the server, which would end the process.
    server.on('error', (cause) => reject(toListenError(host, port, cause)));
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

function toListenError(host: string, port: number, cause: Error): FleetloomError {
  return new FleetloomError({
    code: 'cannot_listen',
    kind: 'caller',
    problem: `the scripted model cannot listen on ${host} port ${port}: ${cause.message}`,
    advice: 'choose another port, or 0 for any free one',
    cause,
  });
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeAllConnections();
  });
}

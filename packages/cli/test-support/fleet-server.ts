import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FleetloomServer, type ServerOptions, startServer } from '@fleetloom/server';

/** A real server with its own data directory. */
export interface TestServer {
  readonly url: string;
  readonly key: string;
  /** The environment variables with which commands reach the server. */
  readonly env: Record<string, string>;
  readonly directory: string;
  post<Answer>(path: string, body: object): Promise<Answer>;
  get<Answer>(path: string): Promise<Answer>;
  /** Starts a run and returns its ids, without waiting for its end. */
  begin(message: string, more?: object): Promise<{ requestId: string; sessionId: string }>;
  /** Waits until a run has ended. Returns its state. */
  ended(requestId: string): Promise<string>;
  stop(): Promise<void>;
  /** Starts the server again on the same directory and port. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Agents on Claude Code may be created; none of these tests runs one. */
const claudeCode = { workspaces: ['wrkspc_default'] };

export async function startTestServer(options: Partial<ServerOptions> = {}): Promise<TestServer> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-cli-test-'));
  let server: FleetloomServer | undefined = await startServer({ dataDirectory: directory, claudeCode, ...options });
  const { url, port, firstKey: key = '' } = server;
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, { ...init, headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  const stop = async () => {
    await server?.close();
    server = undefined;
  };
  const test: TestServer = {
    url,
    key,
    directory,
    env: { FLEETLOOM_URL: url, FLEETLOOM_KEY: key },
    // The casts are safe: tests know the types of the responses.
    post: async <Answer>(path: string, body: object) =>
      (await (await send(path, { method: 'POST', body: JSON.stringify(body) })).json()) as Answer,
    get: async <Answer>(path: string) => (await (await send(path, {})).json()) as Answer,
    begin: async (message, more = { agent_def: { name: 'master', model: 'scripted/echo' } }) => {
      const response = await send('/v1/orchestrate', { method: 'POST', body: JSON.stringify({ message, ...more }) });
      const reader = response.body!.getReader();
      let text = '';
      while (!/"session_id":"\w+"/.test(text)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`the run did not begin: ${text}`);
        text += Buffer.from(value).toString();
      }
      await reader.cancel();
      return {
        requestId: /"request_id":"(\w+)"/.exec(text)?.[1] ?? '',
        sessionId: /"session_id":"(\w+)"/.exec(text)?.[1] ?? '',
      };
    },
    ended: async (requestId) => {
      for (;;) {
        const { state } = await test.get<{ state: string }>(`/v1/requests/${requestId}`);
        if (state !== 'running') return state;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    stop,
    restart: async () => {
      await stop();
      server = await startServer({ dataDirectory: directory, port, claudeCode, ...options });
    },
    close: async () => {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return test;
}

/** A script as the scripted model finds it in a message. `<` is escaped, because the script may be part of another script's text. */
export function script(...turns: readonly object[][]): string {
  return `<script>${JSON.stringify({ turns }).replaceAll('<', '\\u003c')}</script>`;
}

/** The script of a coordinator that delegates these messages to agents of this name. */
export function delegate(agent: string, messages: readonly string[], then = 'All: {{results}}'): string {
  const tasks = messages.map((message) => ({ agent, message }));
  return script([{ call: 'delegate', input: { tasks } }], [{ say: then }]);
}

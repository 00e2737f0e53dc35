import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { SessionFrame } from '../../packages/server/src/frames/frames.ts';
import { findLogProblems } from '../../packages/server/src/sessions/suite/check-log.suite.ts';
import { type TestServer, withServer } from '../server/server.suite.ts';
import type { ClaudeCodeChoice } from '../../packages/server/src/composition/open-programs.ts';
import type { ServerOptions } from '../../packages/server/src/server.ts';
import { noSandbox } from '../../packages/server/src/tools/sandbox/sandbox.suite.ts';
import { claudeCodeEnvironment, temporaryHome } from '../support/claude-code.ts';

type Stream = Awaited<ReturnType<TestServer['client']['beta']['sessions']['events']['stream']>>;
/** An event, with the type of the official client. */
export type SessionEvent = Stream extends AsyncIterable<infer Event> ? Event : never;

/** An agent of a test, with the field names of the official client. */
export interface AgentChoice {
  readonly name?: string;
  readonly tools?: readonly object[];
  readonly mcp_servers?: readonly object[];
  readonly system?: string;
  readonly model?: string;
  /** The agents that the agent may delegate to. */
  readonly roster?: readonly AgentChoice[];
}

/** A server in this process or in another one. */
export interface ServerHandle extends Pick<TestServer, 'url' | 'key' | 'client' | 'directory'> {
  /** When the process of a server in another process was started. */
  readonly startedAt?: number;
  /** How a server in another process ends; one in this process is always closed. */
  readonly restart: (signal?: 'SIGKILL' | 'SIGTERM') => Promise<ServerHandle>;
}

/** A server with the real program in its sandbox, in front of the scripted model, and sessions on it. */
export class ClaudeServer {
  #test: ServerHandle;

  constructor(test: ServerHandle) {
    this.#test = test;
  }

  get directory(): string {
    return this.#test.directory;
  }

  get client(): TestServer['client'] {
    return this.#test.client;
  }

  get url(): string {
    return this.#test.url;
  }

  get key(): string {
    return this.#test.key;
  }

  get startedAt(): number | undefined {
    return this.#test.startedAt;
  }

  async restart(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#test = await this.#test.restart(signal);
  }

  async createSession(choice: AgentChoice = {}, more: object = {}): Promise<string> {
    const { client } = this;
    const asked = { name: 'here', config: { type: 'cloud' } } as const;
    const environment = await untilBegun(() => client.beta.environments.create(asked));
    const agent = await this.#createAgent({ name: 'coordinator', ...choice });
    const wanted = { agent, environment_id: environment.id, ...more };
    return (await untilBegun(() => client.beta.sessions.create(wanted))).id;
  }

  async #createAgent({ roster = [], ...choice }: AgentChoice): Promise<string> {
    const members: string[] = [];
    for (const member of roster) members.push(await this.#createAgent(member));
    const defaults = { name: 'agent', model: 'claude-code/default', tools: [toolset('always_allow')] };
    const multiagent = members.length === 0 ? {} : { multiagent: { type: 'coordinator', agents: members } };
    // The cast: tests write the wire format, and the server checks it.
    const wanted = { ...defaults, ...choice, ...multiagent } as never;
    return (await untilBegun(() => this.client.beta.agents.create(wanted))).id;
  }

  async send(sessionId: string, ...events: readonly object[]): Promise<void> {
    await untilBegun(() => this.client.beta.sessions.events.send(sessionId, { events: events as never }));
  }

  async say(sessionId: string, text: string): Promise<void> {
    await this.send(sessionId, { type: 'user.message', content: [{ type: 'text', text }] });
  }

  /** Follows the session, from now on, until an event matches. */
  async watch(
    sessionId: string,
    begin: () => Promise<void>,
    take: (event: SessionEvent) => boolean | Promise<boolean>,
  ): Promise<SessionEvent[]> {
    const stream = await this.client.beta.sessions.events.stream(sessionId);
    const seen: SessionEvent[] = [];
    await begin();
    for await (const event of stream) {
      seen.push(event);
      if (await take(event)) return seen;
    }
    throw new Error(`the stream ended: ${seen.map(({ type }) => type).join(', ')}`);
  }

  /** Sends a message and waits until the session is idle; approvals are decided on the way. */
  async run(
    sessionId: string,
    text: string,
    onEvent: (event: SessionEvent) => Promise<void> | void = () => {},
  ): Promise<SessionEvent[]> {
    return this.watch(
      sessionId,
      () => this.say(sessionId, text),
      async (event) => {
        await onEvent(event);
        return isAtRest(event);
      },
    );
  }

  async threads(sessionId: string) {
    const threads = [];
    for await (const thread of this.client.beta.sessions.threads.list(sessionId)) threads.push(thread);
    return threads;
  }

  async threadEvents(sessionId: string, threadId: string): Promise<SessionEvent[]> {
    const events: SessionEvent[] = [];
    const listed = this.client.beta.sessions.threads.events.list(threadId, { session_id: sessionId });
    for await (const event of listed) events.push(event);
    return events;
  }

  /** A fork of the session, at its end or at the cursor `at`. */
  async fork(sessionId: string, body: { readonly at?: string | undefined } = {}): Promise<string> {
    const headers = { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' };
    const url = `${this.url}/v1/sessions/${sessionId}/fork`;
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    // The cast: the format of the server's response.
    return ((await response.json()) as { id: string }).id;
  }

  /** The whole log, and the problems in it. */
  async log(sessionId: string): Promise<{ frames: SessionFrame[]; problems: string[] }> {
    const headers = { authorization: `Bearer ${this.key}` };
    const answer = await fetch(`${this.url}/v1/sessions/${sessionId}/export`, { headers });
    const lines = (await answer.text()).trim().split('\n').slice(1, -1);
    const frames = lines.map((line) => toFrame(sessionId, JSON.parse(line) as Exported));
    return { frames, problems: findLogProblems(frames) };
  }

  async files(sessionId: string): Promise<string[]> {
    const names = await readdir(join(this.#test.directory, 'workspaces', sessionId));
    return names.filter((name) => !name.startsWith('.')).sort();
  }

  async makeFile(sessionId: string, name: string): Promise<void> {
    await writeFile(join(this.#test.directory, 'workspaces', sessionId, name), '');
  }

  async readFile(sessionId: string, name: string): Promise<string> {
    return readFile(join(this.#test.directory, 'workspaces', sessionId, name), 'utf8');
  }

  /** The process ids of the programs that are recorded as running. */
  async programs(): Promise<number[]> {
    const names = await readdir(join(this.#test.directory, 'programs')).catch(() => []);
    return names.map((name) => Number.parseInt(name, 10));
  }
}

/** Repeats a request that the server rejects with 529, as on a starved machine: such a request was not begun, so it can be repeated. */
async function untilBegun<Answer>(request: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await request();
    } catch (error) {
      const isRefused = error instanceof Error && 'status' in error && error.status === 529;
      if (!isRefused || attempt === 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}

export async function withClaudeServer(
  path: string,
  run: (server: ClaudeServer) => Promise<void>,
  options: Partial<ServerOptions> = {},
): Promise<void> {
  await withServer((test) => run(new ClaudeServer(test)), { claudeCode: await toChoice(path), ...options });
}

/** The operator's choice for a test server: the program at the path, in the sandbox where there is one. */
export async function toChoice(path: string): Promise<ClaudeCodeChoice> {
  const environment = claudeCodeEnvironment(await temporaryHome());
  return { program: path, environment, workspaces: ['wrkspc_default'], isUnsandboxed: noSandbox !== undefined };
}

export function isAtRest(event: SessionEvent): boolean {
  return event.type === 'session.status_idle' && event.stop_reason.type !== 'requires_action';
}

export function toolset(policy: 'always_allow' | 'always_ask'): object {
  return { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: policy } } };
}

export function textsOf(events: readonly SessionEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === 'agent.message' ? [event.content.map((block) => ('text' in block ? block.text : '')).join('')] : [],
  );
}

/** A call that starts a sub-agent with a script of its own, and waits for it. */
export function delegate(agent: string, description: string, script: string): object {
  const input = { subagent_type: agent, description, prompt: `Do ${description}. ${script}`, run_in_background: false };
  return { call: 'Agent', input };
}

export function bash(command: string): object {
  return { call: 'Bash', input: { command, description: 'Does it' } };
}

interface Exported {
  readonly seq: number;
  readonly type: string;
  readonly time: number;
  readonly thread_id: string | null;
  readonly turn: { readonly run: string; readonly stream_id: number; readonly depth: number } | null;
  readonly payload: object;
}

function toFrame(sessionId: string, { seq, type, time, thread_id: threadId, turn, payload }: Exported): SessionFrame {
  const place = turn === null ? null : { run: turn.run, streamId: turn.stream_id, depth: turn.depth };
  // The cast: the export contains the frames that the session wrote.
  return { sessionId, seq, type, time, threadId, turn: place, payload } as SessionFrame;
}

import { setMaxListeners } from 'node:events';
import type Anthropic from '@anthropic-ai/sdk';
import type { ClientOptions } from '@anthropic-ai/sdk';
import type { accumulateManagedAgentsEvent } from '@anthropic-ai/sdk/lib/sessions/accumulate';
import { type CheckedFetch, createCheckedFetch } from './checked-fetch.ts';
import { type RawAnswer, type RawRequest, sendRaw } from './raw.ts';
import { type Step, toScript, type Usage } from './script.ts';
import { Talk } from './talk.ts';
import { Watcher } from './watcher.ts';

/** The official SDK in one of its versions. */
export interface Sdk {
  readonly name: string;
  readonly Anthropic: new (options: ClientOptions) => Anthropic;
  readonly accumulate: typeof accumulateManagedAgentsEvent;
}

/** The server under test. */
export interface Target {
  readonly url: string;
  readonly key: string;
  /** Kills the server and starts it again on the same port and data. Present only if the caller started the server. */
  readonly restart?: (() => Promise<void>) | undefined;
}

/** An agent for a check; absent fields get defaults. */
export type AgentParams = Partial<Omit<Anthropic.Beta.AgentCreateParams, 'betas'>> & {
  /** The turns of its scripted model, unless the system prompt contains them. */
  readonly turns?: readonly (readonly Step[])[];
  readonly usage?: Usage;
};

/** The context of a check: its own clients, and helpers that create agents and sessions. */
export class Context {
  readonly target: Target;
  readonly sdk: Sdk;
  readonly client: Anthropic;
  /** Aborted when the time of the check is over. */
  readonly signal: AbortSignal;
  /** Sessions that were created, to be deleted afterwards. */
  readonly sessionIds: string[] = [];
  readonly agentIds: string[] = [];
  readonly environmentIds: string[] = [];
  readonly vaultIds: string[] = [];
  /** Whether checks repeat more often than in a quick run. */
  readonly isThorough: boolean;
  readonly #checked: CheckedFetch;
  readonly #closing = new AbortController();

  constructor(target: Target, sdk: Sdk, { signal, isThorough }: { signal: AbortSignal; isThorough: boolean }) {
    this.target = target;
    this.sdk = sdk;
    this.isThorough = isThorough;
    this.signal = AbortSignal.any([signal, this.#closing.signal]);
    // Each open request adds a listener, and a check may have many.
    setMaxListeners(0, this.signal);
    this.#checked = createCheckedFetch(this.signal);
    this.client = this.clientWith({});
  }

  get requests(): CheckedFetch['requests'] {
    return this.#checked.requests;
  }

  get problems(): CheckedFetch['problems'] {
    return this.#checked.problems;
  }

  /** Another client of the same server. */
  clientWith(options: ClientOptions): Anthropic {
    const { url: baseURL, key: apiKey } = this.target;
    return new this.sdk.Anthropic({ baseURL, apiKey, authToken: null, fetch: this.#checked.fetch, ...options });
  }

  /** A request without the SDK, with the key. */
  raw(request: RawRequest): Promise<RawAnswer> {
    return sendRaw(this.target, this.#checked.fetch, request);
  }

  /** A response whose body is not read yet. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${this.target.key}`);
    return this.#checked.fetch(`${this.target.url}${path}`, { ...init, headers });
  }

  /** The environment of all sessions of this check, whose tools the server runs itself. */
  async environment(): Promise<string> {
    this.#environment ??= this.client.beta.environments.create({ name: 'conformance' }).then(({ id }) => {
      this.environmentIds.push(id);
      return id;
    });
    return await this.#environment;
  }
  #environment: Promise<string> | undefined;

  async agent({ turns, usage, ...params }: AgentParams = {}): Promise<Anthropic.Beta.BetaManagedAgentsAgent> {
    const script = turns === undefined ? {} : { system: toScript(turns, usage) };
    const agent = await this.client.beta.agents.create({
      name: 'conformance',
      model: 'scripted/echo',
      ...script,
      ...params,
    });
    this.agentIds.push(agent.id);
    return agent;
  }

  async vault(displayName = 'conformance'): Promise<Anthropic.Beta.BetaManagedAgentsVault> {
    const vault = await this.client.beta.vaults.create({ display_name: displayName });
    this.vaultIds.push(vault.id);
    return vault;
  }

  /** A session of the given agent, or of a new one. */
  async session(
    params: AgentParams & {
      readonly agentId?: string;
      readonly create?: Partial<Anthropic.Beta.SessionCreateParams>;
    } = {},
  ): Promise<Talk> {
    const { agentId, create = {}, ...rest } = params;
    const agent = agentId ?? (await this.agent(rest)).id;
    const environment_id = await this.environment();
    const session = await this.client.beta.sessions.create({ agent, environment_id, ...create });
    this.sessionIds.push(session.id);
    return new Talk(this, session);
  }

  async watch(sessionId: string, params: Anthropic.Beta.Sessions.EventStreamParams = {}): Promise<Watcher> {
    return new Watcher(await this.client.beta.sessions.events.stream(sessionId, params), this.signal);
  }

  async watchThread(
    sessionId: string,
    threadId: string,
    params: Omit<Anthropic.Beta.Sessions.Threads.EventStreamParams, 'session_id'> = {},
  ): Promise<Watcher> {
    const { events } = this.client.beta.sessions.threads;
    return new Watcher(await events.stream(threadId, { session_id: sessionId, ...params }), this.signal);
  }

  /** Closes all streams and connections of the check. */
  close(): void {
    this.#closing.abort();
  }
}

import type Anthropic from '@anthropic-ai/sdk';
import type { ClientEvent, ClientEventParams, SessionEvent, SessionThread } from '@fleetloom/protocol/managed-agents';
import type { EventOf } from '../forms/event-of.ts';
import type { Watcher } from './watcher.ts';

type Session = Anthropic.Beta.BetaManagedAgentsSession;

/** The parts of a check that a session under test uses. */
interface Connection {
  readonly client: Anthropic;
  watch(sessionId: string): Promise<Watcher>;
}

/** A session under test, with a stream that is opened before anything is sent. */
export class Talk {
  readonly id: string;
  readonly created: Session;
  readonly #connection: Connection;
  #watcher: Promise<Watcher> | undefined;

  constructor(connection: Connection, session: Session) {
    this.#connection = connection;
    this.id = session.id;
    this.created = session;
  }

  get #sessions(): Anthropic['beta']['sessions'] {
    return this.#connection.client.beta.sessions;
  }

  /** The stream of the session, opened at the first use. */
  watch(): Promise<Watcher> {
    return (this.#watcher ??= this.#connection.watch(this.id));
  }

  async send(...events: readonly ClientEventParams[]): Promise<readonly ClientEvent[]> {
    // The contract and the types of the SDK are compared when the contract is compiled.
    const { data } = await this.#sessions.events.send(this.id, { events: events as never });
    return (data ?? []) as unknown as readonly ClientEvent[];
  }

  async say(text: string): Promise<ClientEvent> {
    return (await this.send(toMessage(text)))[0]!;
  }

  /** Sends, waits until the session is idle again, and returns all listed events. */
  async turn(...events: readonly (string | ClientEventParams)[]): Promise<readonly SessionEvent[]> {
    const watcher = await this.watch();
    const from = watcher.events.length;
    await this.send(...events.map((event) => (typeof event === 'string' ? toMessage(event) : event)));
    await watcher.until('session.status_idle', { from });
    return this.list();
  }

  /** Waits for the next idle event, from index `from` on. */
  async rest(from = 0): Promise<EventOf<'session.status_idle'>> {
    return (await this.watch()).until('session.status_idle', { from });
  }

  /** The event list once its last event is idle, for checks that did not watch the stream. */
  async untilIdle(): Promise<readonly SessionEvent[]> {
    for (;;) {
      const events = await this.list();
      if (events.at(-1)?.type === 'session.status_idle') return events;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async list(params: Anthropic.Beta.Sessions.EventListParams = {}): Promise<readonly SessionEvent[]> {
    const events: SessionEvent[] = [];
    for await (const event of this.#sessions.events.list(this.id, params)) events.push(event as SessionEvent);
    return events;
  }

  async threads(params: Anthropic.Beta.Sessions.ThreadListParams = {}): Promise<readonly SessionThread[]> {
    const threads: SessionThread[] = [];
    for await (const thread of this.#sessions.threads.list(this.id, params)) {
      threads.push(thread as unknown as SessionThread);
    }
    return threads;
  }

  async children(): Promise<readonly SessionThread[]> {
    return (await this.threads()).filter(({ parent_thread_id }) => parent_thread_id !== null);
  }

  async threadEvents(threadId: string, limit?: number): Promise<readonly SessionEvent[]> {
    const events: SessionEvent[] = [];
    const params = { session_id: this.id, ...(limit === undefined ? {} : { limit }) };
    for await (const event of this.#sessions.threads.events.list(threadId, params)) events.push(event as SessionEvent);
    return events;
  }

  async retrieve(): Promise<Session> {
    return await this.#sessions.retrieve(this.id);
  }
}

export function toMessage(text: string): ClientEventParams {
  return { type: 'user.message', content: [{ type: 'text', text }] };
}

/** All events of a type, in order. */
export function ofType<Type extends SessionEvent['type']>(
  events: readonly { readonly type: string }[],
  type: Type,
): readonly EventOf<Type>[] {
  return events.filter((event) => event.type === type) as unknown as readonly EventOf<Type>[];
}

/** The texts of all agent messages, joined. */
export function saidIn(events: readonly { readonly type: string }[]): string {
  return ofType(events, 'agent.message')
    .flatMap(({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')))
    .join('\n');
}

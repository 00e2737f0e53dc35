import type Anthropic from '@anthropic-ai/sdk';
import type { ClientEvent, ClientEventParams, SessionEvent, SessionThread } from '@fleetloom/protocol/managed-agents';
import type { Context } from './context.ts';
import type { EventOf } from './event-of.ts';
import type { Watcher } from './watcher.ts';

type Session = Anthropic.Beta.BetaManagedAgentsSession;

/** A session under test, with a stream that is opened before anything is sent. */
export class Talk {
  readonly id: string;
  readonly created: Session;
  readonly #context: Context;
  #watcher: Promise<Watcher> | undefined;

  constructor(context: Context, session: Session) {
    this.#context = context;
    this.id = session.id;
    this.created = session;
  }

  get #sessions(): Anthropic['beta']['sessions'] {
    return this.#context.client.beta.sessions;
  }

  /** The stream of the whole talk, opened when it is first asked for. */
  watch(): Promise<Watcher> {
    return (this.#watcher ??= this.#context.watch(this.id));
  }

  async send(...events: readonly ClientEventParams[]): Promise<readonly ClientEvent[]> {
    // The contract and the types of the SDK are compared when the contract is compiled.
    const { data } = await this.#sessions.events.send(this.id, { events: events as never });
    return (data ?? []) as unknown as readonly ClientEvent[];
  }

  async say(text: string): Promise<ClientEvent> {
    return (await this.send(toMessage(text)))[0]!;
  }

  /** Sends, and waits until the session rests again. Gives everything that is listed then. */
  async turn(...events: readonly (string | ClientEventParams)[]): Promise<readonly SessionEvent[]> {
    const watcher = await this.watch();
    const from = watcher.events.length;
    await this.send(...events.map((event) => (typeof event === 'string' ? toMessage(event) : event)));
    await watcher.until('session.status_idle', { from });
    return this.list();
  }

  /** The next end of work from here on. */
  async rest(from = 0): Promise<EventOf<'session.status_idle'>> {
    return (await this.watch()).until('session.status_idle', { from });
  }

  /** The list once its last event is an end of work: for whoever comes too late to watch it. */
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

/** What all events of a type are, in their order. */
export function ofType<Type extends SessionEvent['type']>(
  events: readonly { readonly type: string }[],
  type: Type,
): readonly EventOf<Type>[] {
  return events.filter((event) => event.type === type) as unknown as readonly EventOf<Type>[];
}

/** What agents said, joined. */
export function saidIn(events: readonly { readonly type: string }[]): string {
  return ofType(events, 'agent.message')
    .flatMap(({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')))
    .join('\n');
}

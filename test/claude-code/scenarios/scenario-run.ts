import { watchFleet } from '@fleetloom/client';
import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { type ClaudeServer, isAtRest, type SessionEvent, textsOf } from '../claude-server.ts';
import { toLogStory } from './log-story.ts';
import { isWritten } from './story.ts';
import { readTranscript } from './transcript.ts';
import { withoutWorkflows } from './without-workflows.ts';

/** A session of a scenario with everything that its live streams have delivered. */
export class ScenarioRun {
  readonly server: ClaudeServer;
  readonly session: string;
  readonly version: string;
  readonly #patienceMs: number;
  readonly events: SessionEvent[] = [];
  readonly fleet: FleetEvent[] = [];
  /** Whether the server was restarted: then no live stream has all events. */
  isRestarted = false;
  /** The index of the event from which the wait for the end of the newest message begins. */
  #mark = 0;
  #stop: (() => Promise<void>) | undefined;
  readonly #failures: unknown[] = [];
  readonly #handlers: ((event: SessionEvent) => Promise<void> | void)[] = [];

  constructor(options: { server: ClaudeServer; session: string; version: string; patienceMs: number }) {
    this.server = options.server;
    this.session = options.session;
    this.version = options.version;
    this.#patienceMs = options.patienceMs;
  }

  /** Begins to read both live streams of the session. */
  async follow(): Promise<void> {
    const { server, session } = this;
    const stream = await server.client.beta.sessions.events.stream(session);
    const leave = new AbortController();
    const { url, key } = server;
    const fleet = watchFleet({ url, key, session, include: ['thinking'], gate: 'off', signal: leave.signal });
    const reading = [this.#readEvents(stream), this.#readFleet(fleet)];
    this.#stop = async () => {
      leave.abort();
      stream.controller.abort();
      await Promise.all(reading);
    };
  }

  /** As `follow`, after a restart of the server; events that it lists come first. */
  async followAgain(): Promise<void> {
    const { server, session } = this;
    this.isRestarted = true;
    await this.#stop?.();
    this.events.length = 0;
    this.fleet.length = 0;
    await this.follow();
    const listed: SessionEvent[] = [];
    for await (const event of server.client.beta.sessions.events.list(session)) listed.push(event);
    const live = new Set(this.events.map(idOf));
    this.events.unshift(...listed.filter((event) => !live.has(idOf(event))));
  }

  /** Stops reading. Throws earlier errors of streams and handlers. */
  async leave(): Promise<void> {
    await this.#stop?.();
    this.#stop = undefined;
    const [failure] = this.#failures;
    if (failure !== undefined) throw failure;
  }

  /** Calls a handler for every event from now on, one after the other. */
  onEvent(handle: (event: SessionEvent) => Promise<void> | void): void {
    this.#handlers.push(handle);
  }

  async say(text: string): Promise<void> {
    await this.send({ type: 'user.message', content: [{ type: 'text', text }] });
  }

  async send(...events: readonly object[]): Promise<void> {
    this.#mark = this.events.length;
    await this.server.send(this.session, ...events);
  }

  /** Sends a message and waits until the session is idle and does not need a decision. */
  async ask(text: string): Promise<void> {
    await this.say(text);
    // The end of the turn before may come behind the mark.
    const isTaken = (event: SessionEvent) =>
      event.type === 'user.message' &&
      event.processed_at !== null &&
      JSON.stringify(event.content).includes(JSON.stringify(text).slice(1, -1));
    const at = () => this.events.findIndex((event, index) => index >= this.#mark && isTaken(event));
    await this.#until('the message to be taken up', () => at() !== -1);
    this.#mark = at();
    await this.rest();
  }

  /** Waits until the session is idle and does not need a decision, after the last sent and seen events. */
  async rest(): Promise<void> {
    const isIdle = () => {
      const last = this.events.slice(this.#mark).findLast(({ type }) => type.startsWith('session.status_'));
      return last !== undefined && isAtRest(last);
    };
    await this.#until('the session to be idle', isIdle);
  }

  /** Waits until the main agent has said this. */
  async says(text: string, patienceMs?: number): Promise<void> {
    await this.see((event) => textsOf([event]).some((said) => said.includes(text)), patienceMs);
  }

  /** Waits for the first matching event and returns it. */
  async see(holds: (event: SessionEvent) => boolean, patienceMs?: number): Promise<SessionEvent> {
    await this.#until('an event', () => this.events.some(holds), patienceMs);
    return this.events.find(holds)!;
  }

  /** Waits until the fleet stream has delivered such an event. */
  async receives(holds: (event: FleetEvent) => boolean): Promise<void> {
    await this.#until('an event of the fleet stream', () => this.fleet.some(holds));
  }

  /** Approvals, questions and custom tools that the session waits for while it is idle. */
  get open(): readonly string[] {
    const last = this.events.findLast(({ type }) => type.startsWith('session.status_'));
    const stop = last?.type === 'session.status_idle' ? last.stop_reason : undefined;
    return stop?.type === 'requires_action' ? stop.event_ids : [];
  }

  /** Waits until this many approvals, questions and custom tools are open, and returns their ids. */
  async needs(count: number): Promise<readonly string[]> {
    await this.#until(`${count} approvals`, () => this.open.length === count);
    return this.open;
  }

  /** Waits until an open one is not in `known`, and returns the newest. */
  async needsAnother(known: ReadonlySet<string>): Promise<string> {
    await this.#until('another approval', () => this.open.some((id) => !known.has(id)));
    return this.open.findLast((id) => !known.has(id))!;
  }

  /** Waits until the program has written everything to its transcript that the log has of it. */
  async isWritten(): Promise<void> {
    await this.#until('the transcript', async () => {
      const log = toLogStory((await this.server.log(this.session)).frames);
      const transcript = await readTranscript(this.home, log).catch(() => undefined);
      const logged = transcript === undefined ? log : withoutWorkflows(log, transcript);
      const counts = [...logged.threads.values()].map(({ key, items, unfinished }) => {
        const written = transcript?.threads.get(key)?.items.length ?? 0;
        return written >= items.filter((item) => isWritten(item) && unfinished?.has(item) !== true).length;
      });
      return counts.every(Boolean);
    });
  }

  /** Waits until the transcript of an agent has the result of the call whose input contains this. */
  async hasTranscribed(input: string): Promise<void> {
    await this.#until('the transcript', async () => {
      const log = toLogStory((await this.server.log(this.session)).frames);
      const transcript = await readTranscript(this.home, log).catch(() => undefined);
      const items = [...(transcript?.threads.values() ?? [])].flatMap((thread) => thread.items);
      return items.some((item) => item.kind === 'call' && item.input.includes(input) && item.result !== null);
    });
  }

  /** The value of `claude_code.depth` with which agents delegate three levels deep. */
  get depthMax(): string {
    return this.version === '2.1.197' ? '5' : '3';
  }

  /** The directory of the program's transcripts. */
  get home(): string {
    return join(this.server.directory, 'program-homes', this.session);
  }

  /** Waits until an agent of the session has made this file in its workspace. */
  async hasFile(name: string): Promise<void> {
    const folder = join(this.server.directory, 'workspaces', this.session);
    await this.#until(`the file ${name}`, async () => {
      const names: string[] = await readdir(folder).catch(() => []);
      return names.includes(name);
    });
  }

  /** Waits until the text of a thread, as the fleet stream delivers it, contains this. */
  async hears(text: string): Promise<void> {
    const hears = () => {
      const heard = new Map<string | null, string>();
      for (const event of this.fleet)
        if (event.type === 'text') heard.set(event.thread_id, (heard.get(event.thread_id) ?? '') + event.delta);
      return [...heard.values()].some((said) => said.includes(text));
    };
    await this.#until(`the text ${text}`, hears);
  }

  async decide(id: string, result: 'allow' | 'deny', message?: string): Promise<void> {
    const why = message === undefined ? {} : { deny_message: message };
    await this.send({ type: 'user.tool_confirmation', tool_use_id: id, result, ...why });
  }

  async give(id: string, text: string): Promise<void> {
    await this.send({ type: 'user.custom_tool_result', custom_tool_use_id: id, content: [{ type: 'text', text }] });
  }

  /** Kills the programs of the server: the sessions of earlier scenarios are archived, so it is the one of this session. */
  async kill(): Promise<void> {
    for (const pid of await this.server.programs()) process.kill(pid, 'SIGKILL');
  }

  async #until(what: string, holds: () => boolean | Promise<boolean>, timeout = this.#patienceMs): Promise<void> {
    const look = async () => {
      const [failure] = this.#failures;
      if (failure !== undefined) return;
      const types = this.events.map(({ type }) => type).join(', ');
      expect(await holds(), `waited for ${what}; the session delivered ${types}`).toBe(true);
    };
    await vi.waitFor(look, { timeout, interval: 20 });
    const [failure] = this.#failures;
    if (failure !== undefined) throw failure;
  }

  async #readEvents(stream: AsyncIterable<SessionEvent>): Promise<void> {
    try {
      for await (const event of stream) {
        this.events.push(event);
        for (const handle of this.#handlers) await handle(event);
      }
    } catch (failure) {
      if (!this.isRestarted && !isAbort(failure)) this.#failures.push(failure);
    }
  }

  async #readFleet(stream: AsyncIterable<FleetEvent>): Promise<void> {
    try {
      for await (const event of stream) this.fleet.push(event);
    } catch (failure) {
      if (!this.isRestarted && !isAbort(failure)) this.#failures.push(failure);
    }
  }
}

function idOf(event: SessionEvent): string | undefined {
  return 'id' in event ? event.id : undefined;
}

function isAbort(failure: unknown): boolean {
  return failure instanceof Error && /abort/i.test(`${failure.name} ${failure.message}`);
}

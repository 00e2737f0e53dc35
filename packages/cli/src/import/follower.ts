import { CommandError } from '../command-error.ts';
import type { ServerApi } from '../connection/server-api.ts';
import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import { cleanLine } from '../terminal/clean-text.ts';
import { writeText } from '../write-text.ts';
import type { SessionFile } from './session-files.ts';
import { SessionReader } from './session-reader.ts';
import { StepSender } from './step-sender.ts';

/** Follows one session of Claude Code: each look reads what its files hold by then and sends it to the server. */
export class Follower {
  readonly file: SessionFile;
  readonly #io: Io;
  readonly #api: ServerApi;
  #reader: SessionReader;
  #sender: StepSender;
  /** How often the file was replaced. */
  #replacements = 0;
  #printed: string | undefined;
  readonly #reported = new Set<string>();
  #toldAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #failingSince: number | undefined;

  constructor(io: Io, api: ServerApi, file: SessionFile) {
    this.#io = io;
    this.#api = api;
    this.file = file;
    this.#reader = new SessionReader(file);
    this.#sender = new StepSender(api, file.id, this.#reader.facts);
  }

  async look(): Promise<void> {
    await this.#read();
    if (this.#reader.isReplaced) await this.#restart();
    const now = this.#io.timers.now();
    await this.#attempt(() => this.#sender.add(this.#reader.rest(limits.attachQuietMs, now)));
    const isDue =
      this.#failingSince === undefined ? this.#sender.isWaiting : now - this.#triedAt >= limits.attachRetryMs;
    if (isDue || now - this.#toldAt >= limits.attachAliveMs) await this.#attempt(() => this.#flush());
    await this.#print();
    await this.#reportQuietCalls(now);
  }

  /** Sends the rest. Turns that are open then are logged as cut off. */
  async end(): Promise<void> {
    await this.#sender.add(this.#reader.rest());
    await this.#sender.flush(true);
  }

  async #read(): Promise<void> {
    const now = () => this.#io.timers.now();
    for await (const steps of this.#reader.read(now)) await this.#attempt(() => this.#sender.add(steps));
  }

  /** What the server has of the old content stays: the new content becomes a session of its own. */
  async #restart(): Promise<void> {
    await this.#attempt(() => this.end());
    this.#replacements++;
    this.#reader = new SessionReader(this.file);
    this.#sender = new StepSender(this.#api, `${this.file.id}.${this.#replacements + 1}`, this.#reader.facts);
    await writeText(
      this.#io.stderr,
      `${cleanLine(this.file.path)} was replaced or truncated. Its new content is followed as another session.\n`,
    );
    await this.#read();
  }

  async #flush(): Promise<void> {
    this.#triedAt = this.#io.timers.now();
    await this.#sender.flush();
    this.#toldAt = this.#io.timers.now();
    this.#failingSince = undefined;
  }

  async #print(): Promise<void> {
    const { sessionId } = this.#sender;
    if (sessionId === undefined || sessionId === this.#printed) return;
    this.#printed = sessionId;
    await writeText(this.#io.stdout, `${sessionId}\n`);
  }

  /** A transcript does not say that its terminal waits for permission: a call without a result is all that there is. */
  async #reportQuietCalls(now: number): Promise<void> {
    for (const { id, name } of this.#reader.listQuietCalls(limits.attachCallMs, now)) {
      if (this.#reported.has(id) || DELEGATING.has(name)) continue;
      this.#reported.add(id);
      const call = `${this.#printed ?? this.file.id}: ${cleanLine(name)}`;
      await writeText(
        this.#io.stderr,
        `${call} has had no result for ${limits.attachCallMs / 1_000} s: it is running, or it waits for permission in its terminal.\n`,
      );
    }
  }

  /** A server that is being restarted comes back: steps that could not be sent wait until the limit. */
  async #attempt(send: () => Promise<void>): Promise<void> {
    try {
      await send();
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      const now = this.#io.timers.now();
      this.#failingSince ??= now;
      if (this.#sender.sessionId === undefined || now - this.#failingSince > limits.attachPatienceMs) throw error;
    }
  }
}

/** Calls that are open for as long as the agents work that they have started. */
const DELEGATING: ReadonlySet<string> = new Set(['Agent', 'Task', 'Workflow']);

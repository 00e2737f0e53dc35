import { cleanLine } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import type { ServerApi } from '../connection/server-api.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { writeText } from '../base/write-text.ts';
import type { SessionFile } from './session-files.ts';
import type { SessionControl } from './control/session-control.ts';
import type { SessionFormat } from './session-format.ts';
import { SessionReader } from './session-reader.ts';
import { type Conversation, StepSender } from './step-sender.ts';

/** Options of following one session. */
export interface FollowerOptions {
  readonly format: SessionFormat;
  /** Decides calls of the session. Null if the session is only read. */
  readonly control: SessionControl | null;
}

/** Follows one session: each poll reads the new lines of its files and sends them to the server. */
export class Follower {
  readonly file: SessionFile;
  readonly #io: Io;
  readonly #api: ServerApi;
  readonly #options: FollowerOptions;
  #reader: SessionReader;
  #sender: StepSender;
  /** Number of times the file was replaced. */
  #replacements = 0;
  #printed: string | undefined;
  readonly #reported = new Set<string>();
  #reportedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #failingSince: number | undefined;

  constructor(io: Io, api: ServerApi, file: SessionFile, options: FollowerOptions) {
    this.#io = io;
    this.#api = api;
    this.file = file;
    this.#options = options;
    this.#reader = new SessionReader(file, options.format);
    this.#sender = new StepSender(api, this.#toConversation(file.id), this.#reader.facts);
  }

  async look(): Promise<void> {
    await this.#read();
    if (this.#reader.isReplaced) await this.#restart();
    const now = this.#io.timers.now();
    await this.#attempt(() => this.#sender.add(this.#reader.rest(limits.attachQuietMs, now)));
    const isDue =
      this.#failingSince === undefined ? this.#sender.isWaiting : now - this.#triedAt >= limits.attachRetryMs;
    const isControlDue = this.#failingSince === undefined && this.#isControlDue(now);
    if (isDue || isControlDue || now - this.#reportedAt >= limits.attachAliveMs)
      await this.#attempt(() => this.#flush());
    await this.#print();
    await this.#reportQuietCalls(now);
  }

  /** Sends the remaining steps. Open turns are logged as interrupted. */
  async end(): Promise<void> {
    await this.#sender.add(this.#reader.rest());
    const { control } = this.#options;
    await this.#sender.flush(true, control === null ? null : { ...control.report, asks: [] });
  }

  async #read(): Promise<void> {
    const now = () => this.#io.timers.now();
    for await (const steps of this.#reader.read(now)) await this.#attempt(() => this.#sender.add(steps));
  }

  /** The server keeps the old content; the new content becomes another session. */
  async #restart(): Promise<void> {
    await this.#attempt(() => this.end());
    this.#replacements++;
    this.#reader = new SessionReader(this.file, this.#options.format);
    const conversation = this.#toConversation(`${this.file.id}.${this.#replacements + 1}`);
    this.#sender = new StepSender(this.#api, conversation, this.#reader.facts);
    await writeText(
      this.#io.stderr,
      `${cleanLine(this.file.path)} was replaced or truncated. Its new content is followed as another session.\n`,
    );
    await this.#read();
  }

  async #flush(): Promise<void> {
    this.#triedAt = this.#io.timers.now();
    const { control } = this.#options;
    const report = control?.report ?? null;
    const answers = await this.#sender.flush(false, report);
    if (report !== null) control?.take(report, answers);
    this.#reportedAt = this.#io.timers.now();
    this.#failingSince = undefined;
  }

  #isControlDue(now: number): boolean {
    const { control } = this.#options;
    control?.update(this.#reader.listOpenCalls(), now);
    return control?.isDue(now - this.#reportedAt) === true;
  }

  async #print(): Promise<void> {
    const { sessionId } = this.#sender;
    if (sessionId === undefined || sessionId === this.#printed) return;
    this.#printed = sessionId;
    await writeText(this.#io.stdout, `${sessionId}\n`);
  }

  /** A transcript does not record that the terminal waits for permission, only a tool call without a result. */
  async #reportQuietCalls(now: number): Promise<void> {
    for (const { id, name } of this.#reader.listQuietCalls(limits.attachCallMs, now)) {
      if (this.#reported.has(id) || DELEGATING.has(name)) continue;
      this.#reported.add(id);
      const call = `${this.#printed ?? this.file.id}: ${cleanLine(name)}`;
      await writeText(
        this.#io.stderr,
        `${call} has had no result for ${limits.attachCallMs / 1_000} s: it is running, or waiting for permission in its terminal.\n`,
      );
    }
  }

  #toConversation(conversation: string): Conversation {
    return { program: this.#options.format.program, conversation };
  }

  /** Retries while the server restarts, up to the limit. */
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

/** Tool calls that stay open as long as the agents they started. */
const DELEGATING: ReadonlySet<string> = new Set(['Agent', 'Task', 'Workflow']);

import { cutText } from '@fleetloom/protocol/fleet';
import type { ServerApi } from '../connection/server-api.ts';
import { limits } from '../base/limits.ts';
import type { SessionFacts } from './session-reader.ts';
import type { Step } from './step.ts';

interface Imported {
  readonly session_id: string;
  readonly lines: Readonly<Record<string, number>>;
  readonly taken: number;
  /** Absent in responses of older servers. */
  readonly answers?: readonly CallAnswer[];
}

/** The key of an agent and the id of its call. */
export interface CallName {
  readonly key: string;
  readonly call_id: string;
}

/** The decision on a call. */
export interface CallAnswer extends CallName {
  readonly result: 'allow' | 'deny';
  readonly deny_message: string | null;
  readonly updated_input: unknown;
  readonly interrupt: boolean;
}

/** The report of a client that can deliver decisions to the program: pending calls, and calls whose decision was delivered. */
export interface ControlReport {
  readonly asks: readonly CallName[];
  readonly delivered: readonly CallName[];
}

/** A conversation of a program, which becomes one session. */
export interface Conversation {
  readonly program: string;
  readonly conversation: string;
}

/** Sends steps to the server in batches. Known steps are not sent again. */
export class StepSender {
  sessionId: string | undefined;
  /** Number of steps that were new to the server. */
  taken = 0;
  readonly #api: ServerApi;
  readonly #program: string;
  readonly #conversation: string;
  readonly #facts: SessionFacts;
  #lines: Readonly<Record<string, number>> = {};
  #pending: Step[] = [];
  #chars = 0;

  constructor(api: ServerApi, { program, conversation }: Conversation, facts: SessionFacts) {
    this.#api = api;
    this.#program = program;
    this.#conversation = conversation;
    this.#facts = facts;
  }

  /** Adds all steps of a line, or steps that end a turn. */
  async add(steps: readonly Step[]): Promise<void> {
    const fresh = steps.filter((step) => !this.#isKnown(step));
    for (const step of fresh) this.#pending.push(step);
    this.#chars += JSON.stringify(fresh).length;
    if (this.#pending.length >= limits.importStepsMax || this.#chars >= limits.importCharsMax) await this.flush();
  }

  /** Sends the queued steps. After a failure they stay queued for the next attempt. Returns the decisions on the calls of `control`. */
  async flush(isEnd = false, control: ControlReport | null = null): Promise<readonly CallAnswer[]> {
    const { title, directory, version } = this.#facts;
    const body = {
      program: this.#program,
      conversation: this.#conversation,
      title,
      directory: directory === undefined || directory === null ? null : cutText(directory, DIRECTORY_CHARS),
      version: version?.slice(0, limits.importNameCharsMax) ?? null,
      steps: this.#pending,
      is_end: isEnd,
      ...(control === null ? {} : { control }),
    };
    const { session_id: sessionId, lines, taken, answers = [] } = await this.#api.post<Imported>('/v1/imports', body);
    this.taken += taken;
    this.sessionId = sessionId;
    this.#lines = lines;
    this.#pending = [];
    this.#chars = 0;
    return answers;
  }

  get isWaiting(): boolean {
    return this.#pending.length > 0;
  }

  #isKnown({ key, line, event }: Step): boolean {
    const last = this.#lines[key] ?? 0;
    return event.type.endsWith('_ended') ? line < last : line <= last;
  }
}

const DIRECTORY_CHARS = 500;

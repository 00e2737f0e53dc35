import type { AgentSnapshot, Networking } from '@fleetloom/protocol/managed-agents';
import type { AssistantBlock, InputBlock, ResultBlock } from '../base/content.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Usage } from './engine.ts';
import type { SettingsChoice } from './program-options.ts';

/**
 * Who runs a whole session: a program that has its own loop, its own tools and its own sub-agents. Where an `Engine`
 * answers one request, this one is told what people say and tells everything that its agents do.
 */
export interface ProgramEngine {
  /** What goes wrong, also in the beginning, is the last event of the program; nothing is ever thrown. */
  open(options: ProgramOptions): Promise<Program>;
  /** Why no session could begin a program here, for people; null if nothing is known to be in the way. */
  whyUnavailable(): Promise<string | null>;
  /** Which program there is, and what a session of it can be configured with. */
  describe(): Promise<ProgramFacts>;
  /**
   * Makes what the program of one session knows of a conversation known to the program of another one. False if there is nothing that
   * could be copied.
   */
  copyConversation(copied: {
    readonly conversation: string;
    /** The message that the other program continues from, as `turn_ended` names it. */
    readonly message: string;
    readonly from: SessionPlace;
    readonly to: SessionPlace;
  }): Promise<boolean>;
  /** The session is gone: what its program has kept of it is removed. */
  forget(sessionId: string): Promise<void>;
  /** Sessions of which something is kept. */
  listKept(): Promise<readonly string[]>;
  /** Ends programs that a former process of this server left behind, and says how many there were. */
  reap(): Promise<number>;
  /** Ends all programs. Resolves when none of their processes is left. */
  close(): Promise<void>;
}

export interface SessionPlace {
  readonly sessionId: string;
  /** Its workspace. */
  readonly directory: string;
}

export interface ProgramFacts {
  /** Null if there is no program. */
  readonly version: string | null;
  readonly isSandboxed: boolean;
  /** Permission modes that a session can be in. */
  readonly permissionModes: readonly string[];
  /** Depths of delegation that a session can be limited to. */
  readonly depths: readonly number[];
  readonly settings: readonly SettingsChoice[];
}

export interface ProgramOptions {
  readonly sessionId: string;
  /** Where its agents work. */
  readonly directory: string;
  readonly agent: AgentSnapshot;
  /** Whom it may delegate to. */
  readonly members: readonly AgentSnapshot[];
  /** How deep its agents may delegate, as far as it can be kept to that. */
  readonly depthMax: number;
  /** Sub-agents of that conversation, and the calls that made them. */
  readonly known: readonly { readonly key: string; readonly callId: string }[];
  /** How the program named the conversation that it is to go on with. */
  readonly resume: string | null;
  /** Set if the conversation is that of another session: it is continued as a new one, from this message on. */
  readonly forkAt?: string | undefined;
  /** What the environment of the session lets it reach: everything that is public, if it does not say. */
  readonly networking?: Networking | undefined;
  /** Which settings it loads beside the definition; by default none. */
  readonly settings?: SettingsChoice | undefined;
}

export interface Program {
  /**
   * What happens, in batches, for one reader. The last event is `exited`, and there is exactly one. While nobody reads,
   * the program is made to wait.
   */
  readonly events: AsyncIterable<readonly ProgramEvent[]>;
  /** Something for the main agent. It begins a turn, or becomes part of the one that the program is in. */
  say(content: readonly InputBlock[]): void;
  /** Stops the turn of the main agent. The end of the turn comes as an event. */
  interrupt(): void;
  /** Stops one sub-agent. */
  stopThread(key: string): void;
  /** The model of the main agent from its next request on; null: what the program takes by itself. */
  setModel(model: string | null): void;
  /** How much the program does without asking, in its own words; what its definition wants asked for is asked for all the same. */
  setPermissionMode(mode: string): void;
  /** Decides whether a call may run. The decision may come before the `ask`: it is then applied when the program asks. */
  answer(callId: string, decision: Decision): void;
  /** What a call gave that somebody outside runs: a custom tool, or a question. */
  giveResult(callId: string, result: { readonly content: readonly ResultBlock[]; readonly isError: boolean }): void;
  /** What is known of its process at this moment. */
  vitals(): ProgramVitals;
  /** Lets it end by itself for a moment if it rests, and kills it otherwise. Resolves when no process of it is left. */
  close(): Promise<void>;
}

export interface ProgramVitals {
  /** Null if there is none. */
  readonly pid: number | null;
  readonly isAlive: boolean;
  /** When it last wrote anything; null if it never did. */
  readonly lastByteAt: number | null;
}

export type Decision =
  /** With `updatedInput` the call runs with that input instead of its own. */
  | { readonly type: 'allow'; readonly updatedInput?: JsonObject | undefined }
  /** The model reads the message. With `isInterrupting` the turn that made the call ends as well. */
  | { readonly type: 'deny'; readonly message: string; readonly isInterrupting?: boolean | undefined };

/** What models are called that mean a program: `claude-code/default`, `claude-code/sonnet`. */
export const PROGRAM_PREFIX = 'claude-code/';

/** The key of the main agent. Others have the name that the program gave them. */
export const MAIN = 'main';

export type ProgramEvent = { readonly key: string } & (
  | ProgramLife
  | ThreadOpened
  | { readonly type: 'thread_started'; readonly prompt: string | null }
  | {
      readonly type: 'thread_ended';
      readonly status: 'completed' | 'failed' | 'stopped';
      readonly error: string | null;
    }
  | { readonly type: 'request_started'; readonly model: string }
  | RequestEnded
  /** Text or thought begins to grow. `block` is its name among all blocks of the agent. */
  | { readonly type: 'block_started'; readonly block: string; readonly kind: 'text' | 'thinking' }
  | { readonly type: 'block_delta'; readonly block: string; readonly text: string }
  /** It is whole. If its deltas do not add up to it, they are void. Blocks that did not grow before anybody come so too. */
  | { readonly type: 'block_ended'; readonly block: string; readonly content: AssistantBlock }
  | ProgramCall
  | ProgramAsk
  | {
      readonly type: 'result';
      readonly callId: string;
      readonly content: readonly ResultBlock[];
      readonly isError: boolean;
      /** The file as the call has left it, where the input of the call does not have its content. */
      readonly file?: WrittenFile | undefined;
    }
  /** The program no longer wants to know whether the call may run. */
  | { readonly type: 'ask_withdrawn'; readonly callId: string }
  | ProgramRetry
  | ProgramSettings
  /** Part of what the sub-agent did is not known. The message is for people. */
  | { readonly type: 'transcript_missing'; readonly message: string }
  | { readonly type: 'compacted' }
);

/** Of the whole: turns of the main agent, and the process. */
export type ProgramLife =
  /** It runs, and this is how it names the conversation. */
  | { readonly type: 'opened'; readonly conversation: string; readonly version: string | null }
  /** One is about to begin by itself, so that it does not rest until then: a sub-agent in the background has ended. */
  | { readonly type: 'turn_expected' }
  | { readonly type: 'turn_started' }
  | {
      readonly type: 'turn_ended';
      readonly outcome: TurnOutcome;
      /** Something was said that the turn did not take up: another one follows. */
      readonly isMoreToCome: boolean;
      /** The last message of the main agent, as the program names it: with that the conversation can be forked here. */
      readonly message?: string | undefined;
    }
  | ProgramWork
  /** One of its MCP servers cannot be used; it goes on without. */
  | {
      readonly type: 'server_failed';
      readonly serverName: string;
      readonly isLogin: boolean;
      /** For people, if it is known. */
      readonly reason: string | null;
    }
  | {
      readonly type: 'exited';
      readonly message: string;
      readonly isWanted: boolean;
      /** Set if it was never begun, because this server does not begin it. */
      readonly refusal?: ProgramRefusal | undefined;
    };

/**
 * Work of the program that belongs to no turn and ends with its process, so that the program has to be kept until it is
 * done: a shell command in the background, a turn that it will begin at a time. Sub-agents are threads instead.
 */
export type ProgramWork =
  /** A second one with the same id replaces the first. */
  | {
      readonly type: 'work_started';
      readonly workId: string;
      readonly kind: 'command' | 'wake_up' | 'task';
      readonly description: string;
      /** When it is over at the latest; null: `work_ended` follows. */
      readonly until: number | null;
    }
  | {
      readonly type: 'work_ended';
      readonly workId: string;
      readonly outcome: 'completed' | 'failed' | 'stopped';
    };

/** `programs_not_allowed`: not in this workspace. `program_unavailable`: not on this machine, or not with this environment. */
export type ProgramRefusal = 'programs_not_allowed' | 'program_unavailable';

export type TurnOutcome =
  | { readonly type: 'done' }
  | { readonly type: 'stopped' }
  | { readonly type: 'refused'; readonly message: string }
  | { readonly type: 'limit'; readonly message: string }
  | { readonly type: 'failed'; readonly reason: TurnFailure; readonly message: string };

export type TurnFailure = 'overloaded' | 'rate_limited' | 'billing' | 'authentication' | 'request_failed' | 'unknown';

/** A sub-agent is there. Its first run begins with it. */
export interface ThreadOpened {
  readonly type: 'thread_opened';
  readonly parentKey: string;
  readonly agentName: string;
  readonly description: string | null;
  readonly prompt: string | null;
  /** The call that made it. */
  readonly callId: string | null;
}

/** A model request of the agent failed, and the program sends it again. One event for each attempt. */
export interface ProgramRetry {
  readonly type: 'retry';
  readonly message: string;
  /** The HTTP status; null if there was none. */
  readonly status: number | null;
  /** How long the program waits before it sends the request again. */
  readonly delayMs: number;
  /** How many retries the program makes at most; null if it does not report that. */
  readonly retriesMax: number | null;
}

/** What the program has loaded beside the definitions. It comes before anything that is said to the program reaches it. */
export interface ProgramSettings {
  readonly type: 'settings_loaded';
  readonly settings: Exclude<SettingsChoice, 'none'>;
  /** Files with instructions for the model, by their paths. */
  readonly instructions: readonly string[];
  readonly hooks: readonly string[];
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  readonly rules: readonly string[];
}

export interface WrittenFile {
  readonly path: string;
  readonly content: string;
}

export interface RequestEnded {
  readonly type: 'request_ended';
  readonly model: string;
  readonly usage: Usage;
  readonly stopReason: string | null;
  readonly isError: boolean;
}

/** Something is to be done. The program does it, unless it is `custom`. */
export interface ProgramCall {
  readonly type: 'call';
  readonly callId: string;
  /** How the program names the tool. */
  readonly name: string;
  readonly input: Json;
  /**
   * `permission` is what the definition of the agent wants, not what the program does: only an `ask` makes an approval, and
   * only a call with the permission `ask`, or a question, has one. `deny`: the engine refuses the call, because the
   * definition does not give the tool to the agent.
   */
  readonly tool:
    | { readonly kind: 'builtin'; readonly permission: 'allow' | 'ask' | 'deny' }
    | { readonly kind: 'agent' }
    | {
        readonly kind: 'mcp';
        readonly permission: 'allow' | 'ask';
        readonly serverName: string;
        readonly toolName: string;
      }
    /** `toolName` is how its owner names it. A question to people has a result once it was asked for. */
    | { readonly kind: 'custom'; readonly toolName: string; readonly isQuestion?: boolean };
}

/**
 * The program waits for a decision about a call that it has announced with `call`. A call that the program refuses on its own
 * (by a rule, a mode or a hook) has a `result` and never an `ask`; neither has one that the engine answers by the definition.
 */
export interface ProgramAsk {
  readonly type: 'ask';
  readonly callId: string;
  /** `tool` and `plan` wait for `answer`, `question` waits for `giveResult`. */
  readonly kind: 'tool' | 'question' | 'plan';
  /** Why the program asks, in its own words, if it says so. */
  readonly reason: string | null;
  /** What the program would run. It may differ from the input of the call: newer programs add the text of a plan. */
  readonly input: Json;
}

import type { PlanTask } from '@fleetloom/protocol/fleet';
import type { AgentSnapshot, Networking } from '@fleetloom/protocol/managed-agents';
import type { AssistantBlock, InputBlock, ResultBlock } from '../../base/content.ts';
import type { Json, JsonObject } from '../../base/json/json.ts';
import type { EndedConversation } from './ended-conversation.ts';
import type { Usage } from '../model/engine.ts';
import type { ProgramDirectory } from './program-owner.ts';
import type { ProgramCapabilities } from './program-capabilities.ts';
import type { ControlAnswer, ControlRequest, ProgramControl } from './program-controls.ts';

/** The settings that a program loads beside the agent's definition: `project`: those of the workspace; `user`: the operator's own too. */
export const settingsChoices = ['none', 'project', 'user'] as const;
export type SettingsChoice = (typeof settingsChoices)[number];

/**
 * Runs the agent of a session, or one of its roster, with a program that has its own loop, its own tools and its own
 * sub-agents. An `Engine` answers one request; a program receives messages and emits all events of its agents.
 */
export interface ProgramEngine {
  /** Opens a program. Failures, including a failed start, are the last event of the program; nothing is ever thrown. */
  open(options: ProgramOptions): Promise<Program>;
  /** Why no session could start a program here, for people; null if no reason is known. */
  whyUnavailable(): Promise<string | null>;
  /** The program and what its sessions can be configured with. */
  describe(): Promise<ProgramFacts>;
  /**
   * Copies a conversation from the program of one session to the program of another session. False if no conversation
   * could be copied.
   */
  copyConversation(copied: {
    readonly conversation: string;
    /** The message that the other program continues from: the `message` of a `turn_ended`. */
    readonly message: string;
    readonly from: ProgramDirectory;
    readonly to: ProgramDirectory;
  }): Promise<boolean>;
  /**
   * The events of an ended process that the program recorded in its own files and the log does not have, in the order of
   * each thread. Nothing is thrown.
   */
  recover(ended: EndedConversation): AsyncIterable<readonly ProgramEvent[]>;
  /** Closes the programs of a deleted session and removes their files. */
  forget(sessionId: string): Promise<void>;
  /** Sessions with files of programs. */
  listKept(): Promise<readonly string[]>;
  /** Ends programs that an earlier process of this server left behind, and returns their number. */
  reap(): Promise<number>;
  /** Ends all programs. Resolves when none of their processes is left. */
  close(): Promise<void>;
}

/** Facts about a program that are known before a session starts it. */
export interface ProgramFacts {
  /** The version of the program; null if it is not installed or not known before it runs. */
  readonly version: string | null;
  readonly isSandboxed: boolean;
  /** Permission modes that a session can be in. */
  readonly permissionModes: readonly string[];
  /** Depths of delegation that a session can be limited to. */
  readonly depths: readonly number[];
  readonly settings: readonly SettingsChoice[];
  /** The control requests that a running program supports. */
  readonly controls: readonly ProgramControl[];
  readonly capabilities: ProgramCapabilities;
}

/** The options with which a program is started. */
export interface ProgramOptions extends ProgramDirectory {
  readonly agent: AgentSnapshot;
  /** The roster: agents that the agent may delegate to. */
  readonly members: readonly AgentSnapshot[];
  /** Maximum depth of delegation, for programs whose depth can be limited; 0: the agent cannot start sub-agents. */
  readonly depthMax: number;
  /** Sub-agents of the conversation in `resume`, and the calls that started them. */
  readonly known: readonly { readonly key: string; readonly callId: string }[];
  /** The program's id of the conversation to continue; null: a new one. */
  readonly resume: string | null;
  /** Set if the conversation belongs to another session: the program continues it as a new conversation, from this message on. */
  readonly forkAt?: string | undefined;
  /** The networking of the session's environment. Absent: all public hosts. */
  readonly networking?: Networking | undefined;
  /** The session has vaults: MCP servers are reached through this server, which adds their credentials. */
  readonly hasVaults?: boolean | undefined;
  /** The settings that the program loads beside the definition; by default none. */
  readonly settings?: SettingsChoice | undefined;
}

/** A running program. */
export interface Program {
  /**
   * The events, in batches, for one reader. The last event is `exited`, exactly one. While the events are not read,
   * the program is made to wait.
   */
  readonly events: AsyncIterable<readonly ProgramEvent[]>;
  /**
   * Sends a message to the main agent. It begins a turn, or joins the current one. With `messageId` the files can be
   * rewound to this message later, even by a program that resumes the conversation.
   */
  say(content: readonly InputBlock[], messageId?: string): void;
  /** Stops the turn of the main agent. The end of the turn comes as an event. */
  interrupt(): void;
  /** Stops one sub-agent. */
  stopThread(key: string): void;
  /** Sets the model of the main agent from its next request on; null: the program's own choice. */
  setModel(model: string | null): void;
  /** Sets the permission mode, by the program's name. Calls that need an approval by the definition still need it in every mode. */
  setPermissionMode(mode: string): void;
  /** Decides whether a call may run. The decision may come before the `ask`: it is then applied when the program asks. */
  answer(callId: string, decision: Decision): void;
  /** Sends the result of a call that a client runs: a custom tool, or a question. */
  giveResult(callId: string, result: { readonly content: readonly ResultBlock[]; readonly isError: boolean }): void;
  /** The control requests that `control` supports. */
  readonly controls: readonly ProgramControl[];
  /** Sends a control request to the program, outside of turns. Never rejects, and resolves within a time limit. */
  control(request: ControlRequest): Promise<ControlAnswer>;
  /** The current state of the program's process. */
  vitals(): ProgramVitals;
  /**
   * Gives an idle program a moment to end on its own, and kills other programs. With `isOverdue`, because it did not stop in time, the
   * program has less time. Resolves when no process of it is left.
   */
  close(options?: { readonly isOverdue: boolean }): Promise<void>;
}

/** The state of a program's process. */
export interface ProgramVitals {
  /** The process id; null without a process. */
  readonly pid: number | null;
  readonly isAlive: boolean;
  /** When the program last wrote output; null if it never did. */
  readonly lastByteAt: number | null;
}

/** The decision about an approval. */
export type Decision =
  /** With `updatedInput` the call runs with that input instead of its own. */
  | { readonly type: 'allow'; readonly updatedInput?: JsonObject | undefined }
  /** The model reads the message. With `isInterrupting` the turn that made the call ends as well. */
  | { readonly type: 'deny'; readonly message: string; readonly isInterrupting?: boolean | undefined };

/** The key of the main agent. The key of a sub-agent is the program's id of it. */
export const MAIN = 'main';

/** An event of a program; `key` is the agent that it belongs to. */
export type ProgramEvent = { readonly key: string } & (
  | ProgramLife
  | ThreadOpened
  | { readonly type: 'thread_started'; readonly prompt: string | null }
  /** The delegating agent has sent a message to the running sub-agent, whose next request contains the message. */
  | { readonly type: 'thread_message'; readonly text: string }
  | {
      readonly type: 'thread_ended';
      readonly status: 'completed' | 'failed' | 'stopped';
      readonly error: string | null;
    }
  | { readonly type: 'request_started'; readonly model: string }
  | RequestEnded
  /** A text or thinking block begins. `block` is its name among all blocks of the agent. */
  | { readonly type: 'block_started'; readonly block: string; readonly kind: 'text' | 'thinking' }
  | { readonly type: 'block_delta'; readonly block: string; readonly text: string }
  /** A complete block. If its deltas differ from it, they are void. Blocks without deltas are also emitted like this. */
  | { readonly type: 'block_ended'; readonly block: string; readonly content: AssistantBlock }
  | ProgramCall
  | ProgramAsk
  | {
      readonly type: 'result';
      readonly callId: string;
      readonly content: readonly ResultBlock[];
      readonly isError: boolean;
      /** The file after the call, if the input of the call does not contain its content. */
      readonly file?: WrittenFile | undefined;
    }
  /** New output of a running call. It is only shown while the call runs: the result has the final output. */
  | { readonly type: 'output_delta'; readonly callId: string; readonly text: string }
  /** The current plan of the agent as a list of tasks. It replaces the previous plan. */
  | { readonly type: 'plan'; readonly items: readonly PlanTask[] }
  /** The decision or result from `answer` or `giveResult` was passed to the program. This event comes before the result of the call. */
  | { readonly type: 'answered'; readonly callId: string }
  /** The program no longer waits for a decision about the call. */
  | { readonly type: 'ask_withdrawn'; readonly callId: string }
  | ProgramRetry
  | ProgramSettings
  /** Part of the sub-agent's work is not known. The message is for people. */
  | { readonly type: 'transcript_missing'; readonly message: string }
  /** A model request failed finally, and the agent continues without its response. */
  | { readonly type: 'request_failed'; readonly message: string }
  | { readonly type: 'compacted' }
);

/** Events about the main agent's turns and the process. */
export type ProgramLife =
  /** The program runs; `conversation` is its id of the conversation. */
  | { readonly type: 'opened'; readonly conversation: string; readonly version: string | null }
  /** The program is about to begin a turn on its own, so it is not idle: a sub-agent in the background has ended. */
  | { readonly type: 'turn_expected' }
  | { readonly type: 'turn_started' }
  | {
      readonly type: 'turn_ended';
      readonly outcome: TurnOutcome;
      /** Another turn follows, for example because a message was not part of this turn. */
      readonly isMoreToCome: boolean;
      /** The program's id of the main agent's last message, at which the conversation can be forked. */
      readonly message?: string | undefined;
    }
  | ProgramWork
  /** An MCP server of the program cannot be used; the program continues without it. */
  | {
      readonly type: 'server_failed';
      readonly serverName: string;
      readonly isLogin: boolean;
      /** The reason for people; null if it is not known. */
      readonly reason: string | null;
    }
  | {
      readonly type: 'exited';
      readonly message: string;
      readonly isWanted: boolean;
      /** Set if this server did not start the program. */
      readonly refusal?: ProgramRefusal | undefined;
    };

/**
 * Work of the program outside of turns that ends with its process, so the program must be kept running until the work is
 * done: a shell command in the background, or a turn that it will begin at a given time. Sub-agents are threads instead.
 */
export type ProgramWork =
  /** Work with the same id as earlier work replaces it. */
  | {
      readonly type: 'work_started';
      readonly workId: string;
      readonly kind: 'command' | 'wake_up' | 'task';
      readonly description: string;
      /** The latest end of the work, in ms since 1970; null: `work_ended` follows. */
      readonly until: number | null;
    }
  | {
      readonly type: 'work_ended';
      readonly workId: string;
      readonly outcome: 'completed' | 'failed' | 'stopped';
    };

/** Why no program was started. `programs_not_allowed`: not in this workspace. `program_unavailable`: not on this machine or with this environment. */
export type ProgramRefusal = 'programs_not_allowed' | 'program_unavailable';

/** The outcome of a turn. */
export type TurnOutcome =
  | { readonly type: 'done' }
  | { readonly type: 'stopped' }
  | { readonly type: 'refused'; readonly message: string }
  | { readonly type: 'limit'; readonly message: string }
  | { readonly type: 'failed'; readonly reason: TurnFailure; readonly message: string };

/** Why a turn failed. */
export type TurnFailure = 'overloaded' | 'rate_limited' | 'billing' | 'authentication' | 'request_failed' | 'unknown';

/** The thread of a sub-agent opens. Its first run begins with this event. */
export interface ThreadOpened {
  readonly type: 'thread_opened';
  readonly parentKey: string;
  readonly agentName: string;
  readonly description: string | null;
  readonly prompt: string | null;
  /** The call that started the sub-agent. */
  readonly callId: string | null;
}

/** A model request of the agent failed, and the program sends it again. One event for each attempt. */
export interface ProgramRetry {
  readonly type: 'retry';
  readonly message: string;
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  /** How long the program waits before it sends the request again. */
  readonly delayMs: number;
  /** How many retries the program makes at most; null if it does not report that. */
  readonly retriesMax: number | null;
}

/** Settings that the program has loaded beside the definitions. Emitted before the first message reaches the program. */
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

/** A file that a tool call has written. */
export interface WrittenFile {
  readonly path: string;
  readonly content: string;
}

/** A model request of the program has ended. */
export interface RequestEnded {
  readonly type: 'request_ended';
  readonly model: string;
  readonly usage: Usage;
  readonly stopReason: string | null;
  readonly isError: boolean;
}

/** A tool call. The program runs it, unless it is `custom`. */
export interface ProgramCall {
  readonly type: 'call';
  readonly callId: string;
  /** The program's name of the tool. */
  readonly name: string;
  readonly input: Json;
  /**
   * `permission` is the choice of the agent's definition, not the action of the program: only an `ask` event makes an approval, and
   * only a call with the permission `ask`, or a question, has one. `deny`: the engine denies the call, because the
   * definition does not allow the tool.
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
    /** `toolName` is the name in the definition. A question to people gets its result after its `ask` event. */
    | { readonly kind: 'custom'; readonly toolName: string; readonly isQuestion?: boolean };
}

/**
 * The program waits for a decision about a call that it has announced with `call`. A call that the program rejects on its own
 * (by a rule, a mode or a hook) has a `result` and never an `ask`; the same applies to a call that the engine decides by the definition.
 */
export interface ProgramAsk {
  readonly type: 'ask';
  readonly callId: string;
  /** `tool` and `plan` wait for `answer`, `question` waits for `giveResult`. */
  readonly kind: 'tool' | 'question' | 'plan';
  /** The program's reason for asking; null if it does not report one. */
  readonly reason: string | null;
  /** The input that the program would run. It may differ from the input of the call: newer programs add the text of a plan. */
  readonly input: Json;
}

import type { PlanTask } from '@fleetloom/protocol/fleet';
import type { AgentSnapshot, Networking } from '@fleetloom/protocol/managed-agents';
import type { AssistantBlock, InputBlock, ResultBlock } from '../../base/content.ts';
import type { Json, JsonObject } from '../../base/json/json.ts';
import type { EndedConversation } from './ended-conversation.ts';
import type { Usage } from '../model/engine.ts';
import type { ProgramDirectory } from './program-owner.ts';
import type { ProgramCapabilities } from './program-capabilities.ts';
import type { ControlAnswer, ControlRequest, ProgramControl } from './program-controls.ts';

/** Which settings a program loads beside the agent's definition: those of the workspace, and with `user` the operator's own too. */
export const settingsChoices = ['none', 'project', 'user'] as const;
export type SettingsChoice = (typeof settingsChoices)[number];

/**
 * Runs the agent of a session, or one of its roster, with a program that has its own loop, its own tools and its own
 * sub-agents. Where an `Engine` answers one request, a program receives messages and emits everything that its agents do.
 */
export interface ProgramEngine {
  /** Failures, also of the start, are the last event of the program; nothing is ever thrown. */
  open(options: ProgramOptions): Promise<Program>;
  /** Why no session could start a program here, for people; null if no reason is known. */
  whyUnavailable(): Promise<string | null>;
  /** The program and what its sessions can be configured with. */
  describe(): Promise<ProgramFacts>;
  /**
   * Makes what the program of one session knows of a conversation known to the program of another one. False if there is nothing that
   * could be copied.
   */
  copyConversation(copied: {
    readonly conversation: string;
    /** The message that the other program continues from, as `turn_ended` names it. */
    readonly message: string;
    readonly from: ProgramDirectory;
    readonly to: ProgramDirectory;
  }): Promise<boolean>;
  /**
   * The events of an ended process that the program recorded in its own files and the log does not have, in the order of
   * each thread. Nothing is thrown.
   */
  recover(ended: EndedConversation): AsyncIterable<readonly ProgramEvent[]>;
  /** The session is gone: what its program has kept of it is removed. */
  forget(sessionId: string): Promise<void>;
  /** Sessions of which something is kept. */
  listKept(): Promise<readonly string[]>;
  /** Ends programs that a former process of this server left behind, and says how many there were. */
  reap(): Promise<number>;
  /** Ends all programs. Resolves when none of their processes is left. */
  close(): Promise<void>;
}

/** Facts about a program that are known before a session starts it. */
export interface ProgramFacts {
  /** Null if the program is not installed. */
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
  /** The agents that it may delegate to. */
  readonly members: readonly AgentSnapshot[];
  /** How deep its agents may delegate, as far as it can be kept to that; 0: it starts no sub-agents. */
  readonly depthMax: number;
  /** Sub-agents of that conversation, and the calls that made them. */
  readonly known: readonly { readonly key: string; readonly callId: string }[];
  /** How the program named the conversation that it is to go on with. */
  readonly resume: string | null;
  /** Set if the conversation is that of another session: it is continued as a new one, from this message on. */
  readonly forkAt?: string | undefined;
  /** The networking of the session's environment. Absent: all public hosts. */
  readonly networking?: Networking | undefined;
  /** The session has vaults: MCP servers are reached through this server, which adds their credentials. */
  readonly hasVaults?: boolean | undefined;
  /** Which settings it loads beside the definition; by default none. */
  readonly settings?: SettingsChoice | undefined;
}

/** A running program. */
export interface Program {
  /**
   * The events, in batches, for one reader. The last event is `exited`, and there is exactly one. While they are not read,
   * the program is made to wait.
   */
  readonly events: AsyncIterable<readonly ProgramEvent[]>;
  /**
   * Sends a message to the main agent. It begins a turn, or becomes part of the current one. With `messageId` the files can be
   * rewound to this message later, also by a program that resumes the conversation.
   */
  say(content: readonly InputBlock[], messageId?: string): void;
  /** Stops the turn of the main agent. The end of the turn comes as an event. */
  interrupt(): void;
  /** Stops one sub-agent. */
  stopThread(key: string): void;
  /** The model of the main agent from its next request on; null: the program's own choice. */
  setModel(model: string | null): void;
  /** How much the program does without asking, in its own words; what its definition wants asked for is asked for all the same. */
  setPermissionMode(mode: string): void;
  /** Decides whether a call may run. The decision may come before the `ask`: it is then applied when the program asks. */
  answer(callId: string, decision: Decision): void;
  /** The result of a call that a client runs: a custom tool, or a question. */
  giveResult(callId: string, result: { readonly content: readonly ResultBlock[]; readonly isError: boolean }): void;
  /** Which requests `control` answers. */
  readonly controls: readonly ProgramControl[];
  /** Asks the program for something outside of its turns. Never rejects, and resolves within a limit. */
  control(request: ControlRequest): Promise<ControlAnswer>;
  /** The present state of its process. */
  vitals(): ProgramVitals;
  /**
   * Lets an idle program end on its own for a moment, and kills any other. With `isOverdue`, because it did not stop in time, the
   * program is given less time. Resolves when none of its processes is left.
   */
  close(options?: { readonly isOverdue: boolean }): Promise<void>;
}

/** The state of a program's process. */
export interface ProgramVitals {
  /** Null without a process. */
  readonly pid: number | null;
  readonly isAlive: boolean;
  /** When it last wrote anything; null if it never did. */
  readonly lastByteAt: number | null;
}

/** The decision about an approval. */
export type Decision =
  /** With `updatedInput` the call runs with that input instead of its own. */
  | { readonly type: 'allow'; readonly updatedInput?: JsonObject | undefined }
  /** The model reads the message. With `isInterrupting` the turn that made the call ends as well. */
  | { readonly type: 'deny'; readonly message: string; readonly isInterrupting?: boolean | undefined };

/** The key of the main agent. Others have the name that the program gave them. */
export const MAIN = 'main';

/** An event of a program; `key` is the agent that it belongs to. */
export type ProgramEvent = { readonly key: string } & (
  | ProgramLife
  | ThreadOpened
  | { readonly type: 'thread_started'; readonly prompt: string | null }
  /** The agent that delegates has sent the sub-agent a message while it works, and its next request contains the message. */
  | { readonly type: 'thread_message'; readonly text: string }
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
  /** A complete block. If its deltas differ from it, they are void. Blocks without deltas are also emitted like this. */
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
  /** A call that runs has written more. It is only shown while the call runs: the result has the output that counts. */
  | { readonly type: 'output_delta'; readonly callId: string; readonly text: string }
  /** The tasks that the agent has planned, as they are now. It replaces the plan before. */
  | { readonly type: 'plan'; readonly items: readonly PlanTask[] }
  /** What `answer` or `giveResult` gave for the call was handed to the program. It comes before the result of the call. */
  | { readonly type: 'answered'; readonly callId: string }
  /** The program no longer wants to know whether the call may run. */
  | { readonly type: 'ask_withdrawn'; readonly callId: string }
  | ProgramRetry
  | ProgramSettings
  /** Part of what the sub-agent did is not known. The message is for people. */
  | { readonly type: 'transcript_missing'; readonly message: string }
  /** A model request failed for good, and the agent goes on with what it has. */
  | { readonly type: 'request_failed'; readonly message: string }
  | { readonly type: 'compacted' }
);

/** Events about the main agent's turns and the process. */
export type ProgramLife =
  /** The program runs; `conversation` is its id of the conversation. */
  | { readonly type: 'opened'; readonly conversation: string; readonly version: string | null }
  /** The program is about to begin a turn on its own, so that it does not become idle: a sub-agent in the background has ended. */
  | { readonly type: 'turn_expected' }
  | { readonly type: 'turn_started' }
  | {
      readonly type: 'turn_ended';
      readonly outcome: TurnOutcome;
      /** A message was not part of the turn: another turn follows. */
      readonly isMoreToCome: boolean;
      /** The last message of the main agent, as the program names it: with that the conversation can be forked here. */
      readonly message?: string | undefined;
    }
  | ProgramWork
  /** One of its MCP servers cannot be used; the program continues without it. */
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

/** How a turn ended. */
export type TurnOutcome =
  | { readonly type: 'done' }
  | { readonly type: 'stopped' }
  | { readonly type: 'refused'; readonly message: string }
  | { readonly type: 'limit'; readonly message: string }
  | { readonly type: 'failed'; readonly reason: TurnFailure; readonly message: string };

/** Why a turn failed. */
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
  /** The input that the program would run. It may differ from the input of the call: newer programs add the text of a plan. */
  readonly input: Json;
}

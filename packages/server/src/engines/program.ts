import type { AgentSnapshot, Networking } from '@fleetloom/protocol/managed-agents';
import type { AssistantBlock, InputBlock, ResultBlock } from '../base/content.ts';
import type { Json } from '../base/json.ts';
import type { Usage } from './engine.ts';

/**
 * Who runs a whole session: a program that has its own loop, its own tools and its own sub-agents. Where an `Engine`
 * answers one request, this one is told what people say and tells everything that its agents do.
 */
export interface ProgramEngine {
  /** What goes wrong, also in the beginning, is the last event of the program; nothing is ever thrown. */
  open(options: ProgramOptions): Promise<Program>;
  /** Why no session could begin a program here, for people; null if nothing is known to be in the way. */
  whyUnavailable(): Promise<string | null>;
  /** The session is gone: what its program has kept of it is removed. */
  forget(sessionId: string): Promise<void>;
  /** Sessions of which something is kept. */
  listKept(): Promise<readonly string[]>;
  /** Ends programs that a former process of this server left behind, and says how many there were. */
  reap(): Promise<number>;
  /** Ends all programs. Resolves when none of their processes is left. */
  close(): Promise<void>;
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
  /** What the environment of the session lets it reach: everything that is public, if it does not say. */
  readonly networking?: Networking | undefined;
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
  /** Whether a call that is asked for may run. It may come before the program asks. */
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
  | { readonly type: 'allow' }
  /** The model is told why. */
  | { readonly type: 'deny'; readonly message: string };

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
  | {
      readonly type: 'result';
      readonly callId: string;
      readonly content: readonly ResultBlock[];
      readonly isError: boolean;
    }
  /** The program no longer wants to know whether the call may run. */
  | { readonly type: 'ask_withdrawn'; readonly callId: string }
  /** A request failed, and the program tries again by itself. */
  | { readonly type: 'retry'; readonly message: string; readonly status: number | null }
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
    }
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
  readonly tool: /** `deny`: its definition does not give the tool to the agent, and the program is told so. */
    | { readonly kind: 'builtin'; readonly permission: 'allow' | 'ask' | 'deny' }
    | { readonly kind: 'agent' }
    | {
        readonly kind: 'mcp';
        readonly permission: 'allow' | 'ask';
        readonly serverName: string;
        readonly toolName: string;
      }
    /** `toolName` is how its owner names it. */
    | { readonly kind: 'custom'; readonly toolName: string };
}

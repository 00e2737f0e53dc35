import type { Message } from '../../base/content.ts';
import type { EngineEvent, EngineFailure, Usage } from '../../engines/model/engine.ts';
import type { ProgramEvent } from '../../engines/program/program.ts';
import type { EgressEntry } from '../../frames/egress-entry.ts';
import type { FramePayloads } from '../../frames/frames.ts';
import type { PreparationProblem } from '../../frames/payload-parts.ts';
import type { WorkspaceChanged } from '../../frames/workspace-frames.ts';
import type { ToolResult } from '../../tools/tool.ts';
import type { ToolOffer, ToolProblem } from '../../tools/toolbox.ts';
import type { ClientInput } from './client-event.ts';

/** Everything that can happen to a session. `decide` turns each command into frames. */
export type Command =
  | { readonly type: 'inputs'; readonly inputs: readonly ClientInput[] }
  | { readonly type: 'answered'; readonly threadId: string; readonly answered: Answered }
  | { readonly type: 'summarised'; readonly threadId: string; readonly summarised: Summarised }
  | { readonly type: 'failed'; readonly threadId: string; readonly failed: Failed }
  | { readonly type: 'retry'; readonly threadId: string; readonly at: number }
  | {
      readonly type: 'tool_finished';
      readonly threadId: string;
      readonly toolUseId: string;
      readonly result: ToolResult;
    }
  | {
      readonly type: 'tool_problems';
      readonly threadId: string;
      readonly startId: string;
      readonly problems: readonly ToolProblem[];
    }
  /** Repositories, packages or hosts of credentials that the session has to do without. */
  | { readonly type: 'preparation_problems'; readonly problems: readonly PreparationProblem[] }
  /** Programs of the session were connected to other hosts, or refused. */
  | { readonly type: 'connections'; readonly entries: readonly EgressEntry[] }
  /** A program has done something: the one that runs the thread `rootId` as its main agent, by default the primary thread. */
  | { readonly type: 'program'; readonly rootId?: string; readonly events: readonly TakenEvent[] }
  /** The workspace is ready to be worked in, and recorded from now on. */
  | {
      readonly type: 'workspace_ready';
      readonly opened: Omit<FramePayloads['workspace.opened'], 'id'> | null;
      /** How its setup command ended. */
      readonly setup: Omit<FramePayloads['workspace.setup'], 'id'> | null;
    }
  /** A thread has a worktree of its own. */
  | { readonly type: 'workspace_isolated'; readonly isolated: Omit<FramePayloads['workspace.isolated'], 'id'> }
  /** The changes of a thread are about to be written to the workspace of its parent thread, or were. */
  | { readonly type: 'merge_started'; readonly merge: Omit<FramePayloads['workspace.merge_started'], 'id'> }
  | { readonly type: 'merge_ended'; readonly merge: Omit<FramePayloads['workspace.merge_ended'], 'id'> }
  /** Changes were applied to the user's files or to a branch. */
  | { readonly type: 'workspace_applied'; readonly applied: Omit<FramePayloads['workspace.applied'], 'id'> }
  /** The workspace is about to be removed. */
  | { readonly type: 'workspace_discarded'; readonly by: string }
  /** Files have changed outside of a tool call. */
  | { readonly type: 'workspace_changed' }
  | { readonly type: 'update'; readonly changes: Omit<FramePayloads['session.updated'], 'id'> }
  | { readonly type: 'archive' }
  | { readonly type: 'archive_thread'; readonly threadId: string }
  /** The time of a run may be up. */
  | { readonly type: 'time' }
  /** A frame of the session cannot be written, and deciding again would repeat it. */
  | { readonly type: 'unwritable'; readonly message: string }
  /** The first command after a session was read from its log. */
  | {
      readonly type: 'recover';
      /** Why this process gave the session up before; null: another process owned it. */
      readonly cause?: string | null | undefined;
    }
  /** The programs of the session are ended although they have something under way. */
  | { readonly type: 'release_programs'; readonly message: string }
  /** As `recover`, where the disk with its workspace is gone. */
  | { readonly type: 'workspace_lost'; readonly hasLostFiles?: boolean };

/** Changed files, and the thread that the change is logged on. */
export interface RecordedChange {
  readonly threadId: string | null;
  readonly payload: Omit<WorkspaceChanged, 'id'>;
}

/** Every command except events of clients. */
export type InternalCommand = Exclude<Command, { type: 'inputs' }>;

/** A complete model response. */
export interface Answered {
  readonly startId: string;
  readonly event: Extract<EngineEvent, { type: 'finished' }>;
  readonly costNanoUsd: number | null;
  /** The tools that the request offered to the model. */
  readonly offer: ToolOffer;
  /** Event ids of the blocks that were streamed, by index. */
  readonly eventIds: ReadonlyMap<number, string>;
}

/** The result of a compaction request. */
export interface Summarised {
  readonly startId: string;
  /** The history that the model gets from now on. Null: there was nothing to summarise. */
  readonly history: readonly Message[] | null;
  readonly usage: Usage;
  readonly costNanoUsd: number | null;
  readonly model: string;
}

/** A model request that failed. */
export interface Failed {
  readonly startId: string;
  readonly failure: EngineFailure;
  readonly usage: Usage | null;
  readonly costNanoUsd: number | null;
  readonly model: string;
  /** How long to wait before the next attempt, if there is one. */
  readonly delayMs: number;
}

/** An event of a program, with what was added on the way to the log. */
export interface TakenEvent {
  readonly event: Exclude<ProgramEvent, { type: 'block_started' | 'block_delta' }> | WorkLost | FilesRewound;
  /** Of a block: the event id under which it was streamed. */
  readonly id?: string | undefined;
  /** Of a request: what it cost; null if the price is not known. */
  readonly costNanoUsd?: number | null | undefined;
}

/** The program rewound files because a caller requested it. */
export interface FilesRewound {
  readonly type: 'files_rewound';
  readonly key: string;
  readonly messageId: string;
  readonly by: string;
  readonly files: readonly string[];
  readonly added: number;
  readonly removed: number;
}

/** The program is ended while no turn is open: only its work outside of turns is lost. */
export interface WorkLost {
  readonly type: 'work_lost';
  readonly key: string;
  readonly reason: string;
}

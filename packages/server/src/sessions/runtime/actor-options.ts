import type { Schedule } from '../../base/schedule.ts';
import type { SessionLog } from '../../log/log.ts';
import type { ThreadWorkspaces } from '../../workspaces/isolation/thread-workspaces.ts';
import type { WorkspaceRecorder } from '../../workspaces/snapshots/recorder.ts';
import type { ProgramEngine } from '../../engines/program/program.ts';
import type { Sources } from '../core/draft.ts';
import type { SessionState } from '../core/state/state.ts';
import type { PrepareWorkspace } from './prepare-workspace.ts';
import type { DecideByRules } from './rule-decisions.ts';
import type { ProgramDriverOptions } from './program/program-driver.ts';
import type { RequestRunner } from './run-request.ts';
import type { ToolRunner } from './run-tool.ts';

/** What the actor of a session needs. */
export interface ActorOptions {
  readonly state: SessionState;
  readonly fence: number;
  readonly log: SessionLog;
  readonly sources: Sources;
  readonly schedule: Schedule;
  readonly requests: Omit<RequestRunner, 'writeDelta' | 'onUsage' | 'onSign' | 'onProblems'>;
  readonly tools: Omit<ToolRunner, 'checkOwner' | 'openWorkspace'> & {
    readonly openWorkspace: (sessionId: string) => Promise<string>;
  };
  /** Runs threads whose agent is a program. */
  readonly programs: Pick<ProgramDriverOptions, 'openWorkspace'> & {
    readonly engineOf: (model: string) => ProgramEngine;
  };
  /** Prepares the workspace before the first model request of each run; null if the workspace has no source. */
  readonly prepareWorkspace?: PrepareWorkspace | null | undefined;
  /** Records the files of the session; null for a session without a source. */
  readonly recorder: WorkspaceRecorder | null;
  /** The worktrees of threads that work in their own one; null without such threads. */
  readonly threads?: ThreadWorkspaces | null | undefined;
  /** Answers approvals that a rule allows, and returns how many. */
  readonly decideByRules?: DecideByRules | undefined;
  /** Another process owns the session, or the log is closed: nothing may be done for it here any more. */
  readonly onLost: (error: unknown) => void;
  /** Whether the lease of the session is still held by this process. */
  readonly isOwner?: (() => boolean) | undefined;
}

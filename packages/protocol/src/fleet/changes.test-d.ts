import type {
  AppliedChanges,
  ChangesApplied,
  ChangesDiscarded,
  ChangesRestored,
  ChangesSource,
  FileCounts,
  FileFacts,
  FileTouch,
  FilesRewound,
  NotRecordedFile,
  SessionFault,
  SessionLevelEvent,
  TouchedFile,
  WorkspaceApplied,
  WorkspaceChanged,
  WorkspaceChanges,
  WorkspaceDiff,
  WorkspaceDiffs,
  WorkspaceDiscarded,
  WorkspaceFile,
  WorkspacePoint,
  WorkspaceStep,
  WorkspaceSteps,
  WorkspaceTree,
} from '@fleetloom/protocol/fleet';
import { expectTypeOf } from 'vitest';

// --- events outside of turns ---

expectTypeOf<SessionLevelEvent>().toEqualTypeOf<
  SessionFault | FilesRewound | WorkspaceChanged | WorkspaceApplied | WorkspaceDiscarded
>();
expectTypeOf<WorkspaceChanged['files'][number]>().toEqualTypeOf<WorkspaceFile>();
expectTypeOf<WorkspaceFile>().toEqualTypeOf<{
  readonly path: string;
  readonly status: string;
  readonly added: number | null;
  readonly removed: number | null;
}>();

// --- changes of a session ---

expectTypeOf<WorkspacePoint>().toEqualTypeOf<{
  readonly cursor: string;
  readonly tree: string;
  readonly time: string;
}>();
expectTypeOf<WorkspaceChanges>().toExtend<FileCounts>();
expectTypeOf<WorkspaceChanges['state']>().toEqualTypeOf<'open' | 'not_opened' | 'discarded'>();
expectTypeOf<WorkspaceChanges['source']>().toEqualTypeOf<ChangesSource>();
expectTypeOf<ChangesSource['type']>().toEqualTypeOf<'directory' | 'repositories'>();
expectTypeOf<WorkspaceChanges['files'][number]>().toEqualTypeOf<TouchedFile>();
expectTypeOf<TouchedFile>().toExtend<WorkspaceFile>();
expectTypeOf<TouchedFile['touched_by'][number]>().toEqualTypeOf<FileTouch>();
expectTypeOf<WorkspaceChanges['not_recorded'][number]>().toEqualTypeOf<NotRecordedFile>();
expectTypeOf<WorkspaceChanges['applied'][number]>().toEqualTypeOf<AppliedChanges>();
expectTypeOf<WorkspaceSteps['steps'][number]>().toEqualTypeOf<WorkspaceStep>();
expectTypeOf<WorkspaceStep>().toExtend<FileCounts>();
expectTypeOf<WorkspaceStep['type']>().toEqualTypeOf<'opened' | 'changed' | 'applied' | 'discarded'>();
expectTypeOf<WorkspaceDiffs['diffs'][number]>().toEqualTypeOf<WorkspaceDiff>();
expectTypeOf<WorkspaceDiff['before']>().toEqualTypeOf<FileFacts | null>();
expectTypeOf<WorkspaceDiff['omitted']>().toEqualTypeOf<'binary' | 'too_large' | null>();
expectTypeOf<WorkspaceTree['entries'][number]['type']>().toEqualTypeOf<
  'file' | 'executable' | 'symlink' | 'submodule'
>();

// --- what was done with them ---

for (const outcome of [] as (ChangesApplied | ChangesDiscarded | ChangesRestored)[]) {
  expectTypeOf(outcome).toExtend<FileCounts>();
  if (outcome.type === 'changes_applied') expectTypeOf(outcome).toEqualTypeOf<ChangesApplied>();
  if (outcome.type === 'changes_discarded') expectTypeOf(outcome.directory).toEqualTypeOf<string | null>();
  if (outcome.type === 'changes_restored') expectTypeOf(outcome.cursor).toEqualTypeOf<string | null>();
}

import { z } from 'zod';
import { changesLimits } from '../../workspaces/changes/limits.ts';
import { httpLimits } from '../limits.ts';
import { moment } from './common.ts';

const cursor = z.string().min(1).max(httpLimits.pathIdCharsMax);
const path = z.string().min(1).max(changesLimits.pathCharsMax);
const count = z.int().min(0);
const lines = z.int().min(0).nullable();
const point = z.strictObject({ cursor: z.string(), tree: z.string(), time: moment }).meta({ id: 'WorkspacePoint' });
const file = z.strictObject({
  path: z.string(),
  status: z.string(),
  /** Number of lines; null for a file that is not text. */
  added: lines,
  removed: lines,
});
const counts = { files_count: count, lines_added: count, lines_removed: count };
const notRecorded = {
  not_recorded: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
  not_recorded_count: count,
};
const call = z.strictObject({ session_thread_id: z.string(), tool_use_id: z.string() });

const thread = z.string().min(1).max(httpLimits.pathIdCharsMax);
const worktrees = z
  .array(
    z.strictObject({
      session_thread_id: z.string(),
      agent_name: z.string().nullable(),
      branch: z.string().nullable(),
      merged_at: moment.nullable(),
      ...counts,
    }),
  )
  .exactOptional();

/** Query of `GET /v1/sessions/{session_id}/changes`. */
export const changesQuery = z.strictObject({
  from: cursor.exactOptional(),
  to: cursor.exactOptional(),
  thread: thread.exactOptional(),
  after: path.exactOptional(),
  limit: z.int().min(1).max(changesLimits.filesMax).default(changesLimits.filesMax),
});

/** Query of `GET /v1/sessions/{session_id}/changes/steps`. */
export const stepsQuery = z.strictObject({
  thread: thread.exactOptional(),
  after: cursor.exactOptional(),
  limit: z.int().min(1).max(changesLimits.stepsMax).default(changesLimits.stepsMax),
});

/** Query of `GET /v1/sessions/{session_id}/changes/diff`. */
export const diffQuery = z.strictObject({
  path,
  from: cursor.exactOptional(),
  to: cursor.exactOptional(),
  thread: thread.exactOptional(),
  context: z.int().min(0).max(changesLimits.contextLinesMax).default(3),
});

/** Query of `GET /v1/sessions/{session_id}/changes/diffs`. */
export const diffsQuery = z.strictObject({
  from: cursor.exactOptional(),
  to: cursor.exactOptional(),
  after: path.exactOptional(),
  thread: thread.exactOptional(),
  limit: z.int().min(1).max(changesLimits.diffsMax).default(changesLimits.diffsMax),
  context: z.int().min(0).max(changesLimits.contextLinesMax).default(3),
});

/** Query of `GET /v1/sessions/{session_id}/tree`. */
export const treeQuery = z.strictObject({
  at: cursor.exactOptional(),
  thread: thread.exactOptional(),
  under: path.exactOptional(),
  after: path.exactOptional(),
  limit: z.int().min(1).max(changesLimits.treeEntriesMax).default(changesLimits.treeEntriesDefault),
});

/** Query of `GET /v1/sessions/{session_id}/files/content`. */
export const contentQuery = z.strictObject({ path, at: cursor.exactOptional(), thread: thread.exactOptional() });

/** Body of `POST /v1/sessions/{session_id}/changes/apply`. */
export const applyBody = z
  .strictObject({
    onto: z.enum(['working_tree', 'branch']),
    branch: z.string().min(1).max(changesLimits.branchCharsMax).exactOptional(),
    paths: z.array(path).min(1).max(changesLimits.pathsMax).exactOptional(),
    message: z.string().min(1).max(changesLimits.messageCharsMax).exactOptional(),
    at: cursor.exactOptional(),
    dry_run: z.boolean().exactOptional(),
  })
  .refine(({ onto, branch }) => (onto === 'branch') === (branch !== undefined), {
    path: ['branch'],
    message: 'is needed with `onto: "branch"`, and only with it',
  });

/** Body of `POST /v1/sessions/{session_id}/changes/discard`. */
export const discardBody = z.strictObject({ dry_run: z.boolean().exactOptional() });

/** Body of `POST /v1/sessions/{session_id}/changes/restore`. */
export const restoreBody = z.strictObject({
  at: cursor,
  overwrite: z.boolean().exactOptional(),
  dry_run: z.boolean().exactOptional(),
});

/** Body of `POST /v1/sessions/{session_id}/changes/merge`. */
export const mergeBody = z.strictObject({ thread_id: thread, dry_run: z.boolean().exactOptional() });

/** The changed files of a workspace, in responses. */
export const workspaceChanges = z
  .strictObject({
    type: z.literal('workspace_changes'),
    session_id: z.string(),
    state: z.enum(['open', 'not_opened', 'discarded']),
    source: z.discriminatedUnion('type', [
      z.strictObject({
        type: z.literal('directory'),
        mode: z.enum(['worktree', 'copy', 'in_place', 'read_only']),
        path: z.string(),
        branch: z.string().nullable(),
        base: z.string().nullable(),
      }),
      z.strictObject({ type: z.literal('repositories') }),
    ]),
    workspace: z.string().nullable(),
    from: point.nullable(),
    to: point.nullable(),
    files: z.array(
      z.strictObject({
        ...file.shape,
        touched_by: z.array(
          z.strictObject({
            cursor: z.string(),
            time: moment,
            session_thread_id: z.string().nullable(),
            stream_id: z.int().nullable(),
            tool_use_id: z.string().nullable(),
            cause: z.string(),
            candidates: z.array(call),
          }),
        ),
        touched_by_count: count,
      }),
    ),
    next_after: z.string().nullable(),
    ...counts,
    threads: z.array(
      z.strictObject({ session_thread_id: z.string(), agent_name: z.string().nullable(), files_count: count }),
    ),
    ...notRecorded,
    applied: z.array(
      z.strictObject({
        cursor: z.string(),
        time: moment,
        by: z.string(),
        onto: z.enum(['working_tree', 'branch']),
        paths_count: count,
        branch: z.string().nullable(),
        commit: z.string().nullable(),
      }),
    ),
    can_apply: z.strictObject({ working_tree: z.boolean(), branch: z.boolean() }),
    worktrees,
  })
  .meta({ id: 'WorkspaceChanges' });

/** The recorded changes of a workspace, step by step, in responses. */
export const workspaceSteps = z
  .strictObject({
    type: z.literal('workspace_steps'),
    session_id: z.string(),
    steps: z.array(
      z.strictObject({
        type: z.enum(['opened', 'changed', 'applied', 'discarded']),
        cursor: z.string(),
        time: moment,
        session_thread_id: z.string().nullable(),
        agent_name: z.string().nullable(),
        cause: z.string().nullable(),
        calls: z.array(z.strictObject({ ...call.shape, tool: z.string().nullable() })),
        by: z.string().nullable(),
        files: z.array(file),
        ...counts,
      }),
    ),
    next_after: z.string().nullable(),
  })
  .meta({ id: 'WorkspaceSteps' });

const facts = z.strictObject({ mode: z.string(), bytes: z.int().nullable() }).nullable();

/** The diff of one file, in responses. */
export const workspaceDiff = z
  .strictObject({
    type: z.literal('workspace_diff'),
    session_id: z.string(),
    from: point,
    to: point,
    path: z.string(),
    status: z.enum(['added', 'modified', 'deleted', 'unchanged']),
    added: lines,
    removed: lines,
    before: facts,
    after: facts,
    is_binary: z.boolean(),
    diff: z.string().nullable(),
    omitted: z.enum(['binary', 'too_large']).nullable(),
  })
  .meta({ id: 'WorkspaceDiff' });

/** The diffs of all files, in responses. */
export const workspaceDiffs = z
  .strictObject({
    type: z.literal('workspace_diffs'),
    session_id: z.string(),
    diffs: z.array(workspaceDiff),
    next_after: z.string().nullable(),
  })
  .meta({ id: 'WorkspaceDiffs' });

/** The recorded files at one position of the log, in responses. */
export const workspaceTree = z
  .strictObject({
    type: z.literal('workspace_tree'),
    session_id: z.string(),
    at: point,
    entries: z.array(
      z.strictObject({
        path: z.string(),
        type: z.enum(['file', 'executable', 'symlink', 'submodule']),
        bytes: z.int().nullable(),
      }),
    ),
    next_after: z.string().nullable(),
  })
  .meta({ id: 'WorkspaceTree' });

/** The applied changes, in responses. */
export const changesApplied = z
  .strictObject({
    type: z.literal('changes_applied'),
    session_id: z.string(),
    onto: z.enum(['working_tree', 'branch']),
    dry_run: z.boolean(),
    at: point,
    directory: z.string(),
    branch: z.string().nullable(),
    commit: z.string().nullable(),
    files: z.array(file),
    ...counts,
  })
  .meta({ id: 'ChangesApplied' });

/** The discarded changes, in responses. */
export const changesDiscarded = z
  .strictObject({
    type: z.literal('changes_discarded'),
    session_id: z.string(),
    dry_run: z.boolean(),
    directory: z.string().nullable(),
    branch: z.string().nullable(),
    files: z.array(file),
    ...counts,
    ...notRecorded,
    worktrees,
  })
  .meta({ id: 'ChangesDiscarded' });

/** The merged changes of a thread, in responses. */
export const changesMerged = z
  .strictObject({
    type: z.literal('changes_merged'),
    session_id: z.string(),
    session_thread_id: z.string(),
    dry_run: z.boolean(),
    cursor: z.string().nullable(),
    files: z.array(file),
    ...counts,
  })
  .meta({ id: 'ChangesMerged' });

/** The restored files, in responses. */
export const changesRestored = z
  .strictObject({
    type: z.literal('changes_restored'),
    session_id: z.string(),
    dry_run: z.boolean(),
    at: point,
    before: point,
    cursor: z.string().nullable(),
    files: z.array(file),
    ...counts,
    overwritten: z.array(z.string()),
    overwritten_count: count,
  })
  .meta({ id: 'ChangesRestored' });

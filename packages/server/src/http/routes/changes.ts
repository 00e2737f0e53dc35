import { Readable } from 'node:stream';
import type { Credential } from '../../keys/credential.ts';
import { nameOf } from '../../keys/name-of.ts';
import type { Auditor } from '../../store/audit.ts';
import type { Store } from '../../store/store.ts';
import type { Changes } from '../../workspaces/changes/changes.ts';
import type { Moment } from '../../workspaces/changes/find-point.ts';
import { headOf } from '../feeds/head-of.ts';
import { ContentAnswer } from '../response/answer.ts';
import { toDownloadHeaders } from '../response/content-headers.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import {
  applyBody,
  changesApplied,
  changesDiscarded,
  changesMerged,
  changesQuery,
  changesRestored,
  contentQuery,
  diffQuery,
  diffsQuery,
  discardBody,
  mergeBody,
  restoreBody,
  stepsQuery,
  treeQuery,
  workspaceChanges,
  workspaceDiff,
  workspaceDiffs,
  workspaceSteps,
  workspaceTree,
} from '../schemas/changes.ts';
import { toSeq } from '../feeds/cursor-seq.ts';
import { dataOf, readSession } from './read-session.ts';
import { recorded, type RecordedAction } from './access/recorded.ts';

/** The services that the routes of changes need. */
export interface ChangesRoutesOptions {
  readonly store: Store;
  /** The changes of sessions, on whichever node the workspace is. */
  readonly changes: Changes;
}

/** `/v1/sessions/{session_id}/changes`, `/tree` and `/files`: the changes of agents in the workspace, and the actions on them. */
export function createChangesRoutes({ store, changes }: ChangesRoutesOptions): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'sessions.changes.list',
      summary: 'List the files that agents changed in the workspace of a session, between two cursors',
      method: 'get',
      path: '/v1/sessions/{session_id}/changes',
      accepts: ['api'],
      query: changesQuery,
      gives: workspaceChanges,
      handle: async ({ credential, params, query, signal }) => {
        const { at, seqs } = await open(credential, params.session_id, query, ['from', 'to']);
        const { thread: threadId, after, limit } = query;
        return await changes.list({ ...at, signal }, { ...seqs, threadId, after, limit });
      },
    }),
    defineRoute({
      name: 'sessions.changes.steps',
      summary: 'List what was recorded of the workspace of a session, step by step',
      method: 'get',
      path: '/v1/sessions/{session_id}/changes/steps',
      accepts: ['api'],
      query: stepsQuery,
      gives: workspaceSteps,
      handle: async ({ credential, params, query }) => {
        const { thread: threadId, limit } = query;
        const { at, seqs } = await open(credential, params.session_id, query, ['after']);
        return await changes.steps(at, { ...seqs, threadId, limit });
      },
    }),
    defineRoute({
      name: 'sessions.changes.diff',
      summary: 'Read the unified diff of one file between two cursors',
      method: 'get',
      path: '/v1/sessions/{session_id}/changes/diff',
      accepts: ['api'],
      query: diffQuery,
      gives: workspaceDiff,
      handle: async ({ credential, params, query, signal }) => {
        const { at, seqs } = await open(credential, params.session_id, query, ['from', 'to']);
        return await changes.diff(
          { ...at, signal },
          {
            ...seqs,
            path: query.path,
            contextLines: query.context,
            threadId: query.thread,
          },
        );
      },
    }),
    defineRoute({
      name: 'sessions.changes.diffs',
      summary: 'Read the unified diffs of all changed files between two cursors',
      method: 'get',
      path: '/v1/sessions/{session_id}/changes/diffs',
      accepts: ['api'],
      query: diffsQuery,
      gives: workspaceDiffs,
      handle: async ({ credential, params, query, signal }) => {
        const { at, seqs } = await open(credential, params.session_id, query, ['from', 'to']);
        const { after, limit, context: contextLines } = query;
        return await changes.diffs({ ...at, signal }, { ...seqs, after, limit, contextLines, threadId: query.thread });
      },
    }),
    defineRoute({
      name: 'sessions.tree',
      summary: 'List the files of the workspace at a cursor',
      method: 'get',
      path: '/v1/sessions/{session_id}/tree',
      accepts: ['api'],
      query: treeQuery,
      gives: workspaceTree,
      handle: async ({ credential, params, query, signal }) => {
        const { at, seqs } = await open(credential, params.session_id, query, ['at']);
        const { under, after, limit } = query;
        return await changes.tree({ ...at, signal }, { ...seqs, under, after, limit, threadId: query.thread });
      },
    }),
    defineRoute({
      name: 'sessions.files.content',
      summary: 'Read a file of the workspace at a cursor',
      method: 'get',
      path: '/v1/sessions/{session_id}/files/content',
      accepts: ['api'],
      query: contentQuery,
      gives: 'content',
      handle: async ({ credential, params, query, signal }) => {
        const { at, seqs } = await open(credential, params.session_id, query, ['at']);
        const { path, mode, cursor, content } = await changes.content(
          { ...at, signal },
          {
            ...seqs,
            path: query.path,
            threadId: query.thread,
          },
        );
        const headers = { ...toDownloadHeaders(path), 'x-fleetloom-mode': mode, 'x-fleetloom-cursor': cursor };
        return new ContentAnswer(headers, Readable.from([content], { objectMode: false }), content.length);
      },
    }),
    defineRoute({
      name: 'sessions.changes.apply',
      summary: "Merge the changes of a session into the user's working tree or commit them to a branch",
      method: 'post',
      path: '/v1/sessions/{session_id}/changes/apply',
      accepts: ['api'],
      body: applyBody,
      gives: changesApplied,
      handle: async ({ credential, params, body, audit }) => {
        const { at, seqs, title } = await open(credential, params.session_id, body, ['at']);
        const { branch, paths, message, dry_run: isDryRun = false } = body;
        const onto = branch === undefined ? ({ type: 'working_tree' } as const) : ({ type: 'branch', branch } as const);
        const run = () => changes.apply(at, { ...seqs, by: nameOf(credential), title, onto, paths, message, isDryRun });
        return await record(isDryRun, audit, { action: 'changes.apply', target: at.sessionId, details: { onto } }, run);
      },
    }),
    defineRoute({
      name: 'sessions.changes.discard',
      summary: 'Remove the workspace of an idle session and its branch',
      method: 'post',
      path: '/v1/sessions/{session_id}/changes/discard',
      accepts: ['api'],
      body: discardBody,
      gives: changesDiscarded,
      handle: async ({ credential, params, body: { dry_run: isDryRun = false }, audit }) => {
        const { at } = await open(credential, params.session_id, {}, []);
        const run = () => changes.discard(at, { by: nameOf(credential), isDryRun });
        return await record(isDryRun, audit, { action: 'changes.discard', target: at.sessionId }, run);
      },
    }),
    defineRoute({
      name: 'sessions.changes.merge',
      summary: 'Merge what a thread has changed in its own worktree into the workspace of an idle session',
      method: 'post',
      path: '/v1/sessions/{session_id}/changes/merge',
      accepts: ['api'],
      body: mergeBody,
      gives: changesMerged,
      handle: async ({ credential, params, body, audit }) => {
        const { at } = await open(credential, params.session_id, {}, []);
        const { thread_id: threadId, dry_run: isDryRun = false } = body;
        const run = () => changes.merge(at, { threadId, by: nameOf(credential), isDryRun });
        const details = { thread_id: threadId };
        return await record(isDryRun, audit, { action: 'changes.merge', target: at.sessionId, details }, run);
      },
    }),
    defineRoute({
      name: 'sessions.changes.restore',
      summary: 'Set the files of an idle session back to what they were at a cursor',
      method: 'post',
      path: '/v1/sessions/{session_id}/changes/restore',
      accepts: ['api'],
      body: restoreBody,
      gives: changesRestored,
      handle: async ({ credential, params, body, audit }) => {
        const { at: session, seqs } = await open(credential, params.session_id, body, ['at']);
        const { dry_run: isDryRun = false, overwrite: overwrites = false } = body;
        const run = () => changes.restore(session, { by: nameOf(credential), at: seqs.at!, isDryRun, overwrites });
        const details = { at: body.at, overwrite: overwrites };
        return await record(isDryRun, audit, { action: 'changes.restore', target: session.sessionId, details }, run);
      },
    }),
  ];

  /** Records an action in the audit log, unless it is a dry run. */
  async function record<Result>(isDryRun: boolean, audit: Auditor, action: RecordedAction, run: () => Promise<Result>) {
    return isDryRun ? await run() : await recorded(store.audit, audit, action, run);
  }

  /** A session that the caller may see, and the positions of the cursors that were sent. */
  async function open<Name extends 'from' | 'to' | 'at' | 'after'>(
    credential: Credential,
    id: string,
    sent: { readonly [name in Name]?: string | undefined },
    names: readonly Name[],
  ) {
    const record = await readSession(store, credential, id);
    const head = await headOf(store, id);
    const seqs: { [name in Name]?: name extends 'at' ? Moment : number } = {};
    for (const name of names) {
      const cursor = sent[name];
      if (cursor === undefined) continue;
      // The compiler does not know that only `at` can be `start`.
      seqs[name] = (name === 'at' && cursor === 'start' ? cursor : toSeq(name, cursor, head)) as never;
    }
    return { at: { workspaceId: credential.workspaceId, sessionId: id }, title: dataOf(record).title, seqs };
  }
}

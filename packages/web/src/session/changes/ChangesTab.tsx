import './changes.css';
import type { WorkspaceChanges } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { type ReactNode, useEffect } from 'react';
import { formatClock, formatNumber, plural } from '../../model/format.ts';
import type { ShownSession } from '../../stores/fleet-store.ts';
import { useSignal } from '../../stores/signal.ts';
import { fleet } from '../../stores/stores.ts';
import { changesApi, messageOf } from './changes-api.ts';
import { changesPage } from './changes-page.ts';
import { ChangesToolbar } from './ChangesToolbar.tsx';
import { FilePane } from './FilePane.tsx';
import { FileTree } from './FileTree.tsx';
import { LineCounts } from '../../ui/LineCounts.tsx';
import { selectRange } from './select-range.ts';
import { useLoaded } from '../../ui/use-loaded.ts';
import { useTreeFiles } from './use-tree-files.ts';
import { Worktrees } from './Worktrees.tsx';

/** The changes of agents in the workspace of a session: the files, the diff of one file, and actions on the changes. */
export function ChangesTab({ shown }: { shown: ShownSession }) {
  useSignal(changesPage.changed);
  const { session } = shown;
  useEffect(() => changesPage.show(session.id), [session.id]);
  const { threadId, turn, reloads } = changesPage;
  const at = fleet.replay.seqIn(session.id);
  const range = selectRange(session.workspace.steps, { threadId, turn, at });
  const subject =
    range.type === 'nothing_yet' ? undefined : `${session.id} ${range.thread ?? ''} ${turn ?? ''} ${reloads}`;
  const { decisions } = session.workspace;
  const version = range.type === 'nothing_yet' ? '' : `${range.version} ${decisions}`;
  const { value, problem, isLoading } = useLoaded(subject, version, () => {
    if (range.type === 'nothing_yet') throw new Error('There is no range to load.');
    const { type: _type, version: _version, ...query } = range;
    return changesApi.list(session.id, query);
  });
  const changes = range.type === 'nothing_yet' ? undefined : value;
  return (
    <div className="changes" aria-busy={isLoading}>
      <ChangesToolbar shown={shown} changes={changes} at={at} />
      {changes !== undefined && <Facts changes={changes} at={at} />}
      {range.type === 'nothing_yet' ? (
        <Nothing title="No change yet at this moment">Move the scrubber forward, or go back to live.</Nothing>
      ) : problem !== undefined ? (
        <Nothing title="The changes cannot be loaded">
          <span role="alert">{cleanLine(messageOf(problem))}</span>{' '}
          <button type="button" onClick={() => changesPage.reload()}>
            Try again
          </button>
        </Nothing>
      ) : changes === undefined ? (
        <Nothing title="Loading the changes …" />
      ) : (
        <Body changes={changes} isFiltered={threadId !== undefined || turn !== undefined} />
      )}
    </div>
  );
}

function Body({ changes, isFiltered }: { changes: WorkspaceChanges; isFiltered: boolean }) {
  const shown = useTreeFiles(changes);
  if (changes.state === 'not_opened' || changes.to === null)
    return (
      <Nothing title="No agent has worked yet">
        The workspace is prepared with the first message. Changes appear here as they happen.
      </Nothing>
    );
  if (changes.files_count === 0 && !changesPage.isWholeTree)
    return isFiltered ? (
      <Nothing title="No file has changed with this filter">
        <button type="button" onClick={() => changesPage.set({ threadId: undefined, turn: undefined })}>
          Show all changes
        </button>
      </Nothing>
    ) : (
      <Nothing title="No file has changed">
        <button type="button" onClick={() => changesPage.set({ isWholeTree: true })}>
          Show all files
        </button>
      </Nothing>
    );
  return (
    <div className="changes-body">
      <FileTree changes={changes} shown={shown} />
      <FilePane changes={changes} path={shown.current} />
    </div>
  );
}

/** The source, the totals, and facts that the user should know before applying the changes. */
function Facts({ changes, at }: { changes: WorkspaceChanges; at: number | undefined }) {
  const { source, state, applied, to } = changes;
  const last = applied.findLast(({ cursor }) => at === undefined || Number(cursor) <= at);
  return (
    <div className="changes-facts">
      <span role="status">
        {plural(changes.files_count, 'file')} changed,{' '}
        <LineCounts added={changes.lines_added} removed={changes.lines_removed} />
        {at !== undefined && to !== null && ` at ${formatClock(Date.parse(to.time))}`}
      </span>
      {source.type === 'directory' && (
        <span className="quiet" title={cleanLine(source.path)}>
          {sourceWords[source.mode]} {cleanLine(source.path)}
          {source.branch !== null && ` · branch ${cleanLine(source.branch)}`}
        </span>
      )}
      {last !== undefined && (
        <span className="quiet">
          last applied: {plural(last.paths_count, 'file')} to{' '}
          {last.branch === null ? 'the working tree' : `branch ${cleanLine(last.branch)}`} by {cleanLine(last.by)} at{' '}
          {formatClock(Date.parse(last.time))}
          {to !== null && Number(to.cursor) > Number(last.cursor) && ', changed since'}
        </span>
      )}
      {state === 'discarded' && (
        <span data-ink="needs">
          The workspace was discarded. Its diffs stay readable; the next message starts with a new workspace.
        </span>
      )}
      {changes.files.length < changes.files_count && (
        <span data-ink="needs">
          The first {formatNumber(changes.files.length)} of {formatNumber(changes.files_count)} files are listed.
        </span>
      )}
      {at === undefined && <Worktrees worktrees={changes.worktrees ?? []} />}
      {changes.not_recorded_count > 0 && (
        <details>
          <summary data-ink="needs">{plural(changes.not_recorded_count, 'file')} not recorded</summary>
          <ul>
            {changes.not_recorded.map(({ path, reason }) => (
              <li key={path}>
                <code>{cleanLine(path)}</code> <span className="quiet">{reason.replaceAll('_', ' ')}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

const sourceWords = {
  worktree: 'worktree of',
  copy: 'copy of',
  in_place: 'in place:',
  read_only: 'read-only:',
} as const;

function Nothing({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="nothing changes-nothing">
      <h2>{title}</h2>
      <p className="quiet">{children}</p>
    </div>
  );
}

import type { FileTouch, TouchedFile, WorkspaceChanges, WorkspaceDiff } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { formatClock, plural } from '../../model/format.ts';
import { codeFamilyOf } from '../../ui/text/highlight-code.ts';
import { changesApi, messageOf } from './changes-api.ts';
import { changesPage } from './changes-page.ts';
import { DiffLines } from './DiffLines.tsx';
import { editorLink } from './editor-link.ts';
import { FileContent } from './FileContent.tsx';
import { LineCounts } from '../../ui/LineCounts.tsx';
import { useLoaded } from '../../ui/use-loaded.ts';

/** The selected file: its diff, or the whole file at the moment shown. */
export function FilePane({ changes, path }: { changes: WorkspaceChanges; path: string | undefined }) {
  const { session_id: sessionId, from, to } = changes;
  const version = `${from?.tree} ${to?.tree}`;
  const diff = useLoaded(path === undefined ? undefined : `${sessionId} ${path}`, version, () =>
    changesApi.diff(sessionId, { path: path!, from: from!.cursor, to: to!.cursor }),
  );
  if (path === undefined || to === null) return <section className="file-pane" aria-label="File" />;
  const file = changes.files.find((one) => one.path === path);
  const { value, problem } = diff;
  const isDeleted = value !== undefined && value.after === null;
  const isFile = changesPage.view === 'file' && !isDeleted;
  const link = isDeleted ? undefined : editorLink(changes, path, location.hostname);
  const mode = value === undefined ? '' : modeChange(value);
  return (
    <section className="file-pane" aria-label={`File ${cleanLine(path)}`} aria-busy={diff.isLoading}>
      <header className="file-head">
        <h2>{cleanLine(path)}</h2>
        {value !== undefined && (
          <span className="quiet">
            {value.status}
            {mode}
          </span>
        )}
        {file !== undefined && <LineCounts added={file.added} removed={file.removed} />}
        <span className="thread-actions">
          <span className="choice" role="group" aria-label="View of the file">
            <button type="button" aria-pressed={!isFile} onClick={() => changesPage.set({ view: 'diff' })}>
              Diff
            </button>
            <button
              type="button"
              aria-pressed={isFile}
              disabled={isDeleted}
              onClick={() => changesPage.set({ view: 'file' })}
            >
              File
            </button>
          </span>
          {!isDeleted && (
            <a className="button" href={changesApi.contentPath(sessionId, path, to.cursor)} download>
              Download
            </a>
          )}
          {link !== undefined && (
            <a className="button" href={link} title="Opens the file as it is now in the workspace of the session">
              Open in editor
            </a>
          )}
        </span>
      </header>
      {file !== undefined && <Touches file={file} sessionId={sessionId} />}
      {problem !== undefined ? (
        <p className="file-note fault" role="alert">
          {cleanLine(messageOf(problem))}
        </p>
      ) : value === undefined ? (
        <p className="file-note quiet">Loading …</p>
      ) : isFile ? (
        <FileContent changes={changes} path={path} facts={value.after!} />
      ) : (
        <Diff diff={value} />
      )}
    </section>
  );
}

function Diff({ diff }: { diff: WorkspaceDiff }) {
  if (diff.omitted === 'binary') return <p className="file-note quiet">The file is not text, so there is no diff.</p>;
  if (diff.omitted === 'too_large')
    return <p className="file-note quiet">The diff is larger than 1 MB. Download the file, or run `fleetloom diff`.</p>;
  if (diff.status === 'unchanged') return <p className="file-note quiet">The file has not changed.</p>;
  if (diff.diff === null || !diff.diff.includes('\n@@ '))
    return (
      <p className="file-note quiet">The content is the same{modeChange(diff) === '' ? ': an empty file.' : '.'}</p>
    );
  return (
    <DiffLines
      key={diff.path}
      diff={diff.diff}
      family={codeFamilyOf(diff.path)}
      isSideBySide={changesPage.isSideBySide && !matchMedia(NARROW).matches}
    />
  );
}

/** Two columns of code do not fit. The same width is in changes.css. */
const NARROW = '(max-width: 760px)';

/** The threads and tool calls that changed the file. */
function Touches({ file, sessionId }: { file: TouchedFile; sessionId: string }) {
  const last = file.touched_by.at(-1);
  if (last === undefined) return null;
  return (
    <p className="file-touches quiet">
      {plural(file.touched_by_count, 'change')}, the{' '}
      {file.touched_by_count > file.touched_by.length ? 'last one listed' : 'last'} at{' '}
      {formatClock(Date.parse(last.time))}: <Touch touch={last} sessionId={sessionId} />
    </p>
  );
}

function Touch({ touch, sessionId }: { touch: FileTouch; sessionId: string }) {
  const { session_thread_id: threadId, tool_use_id: toolUseId, candidates, cause } = touch;
  const linkTo = (thread: string, call: string) => `#/session/${sessionId}/${thread}?event=${encodeURIComponent(call)}`;
  if (threadId !== null && toolUseId !== null) return <a href={linkTo(threadId, toolUseId)}>tool call</a>;
  if (candidates.length === 0) return <>{causeWords[cause] ?? cause}</>;
  return (
    <>
      {cause === 'recovered' ? 'found after a crash, perhaps by' : 'one of'}{' '}
      {candidates.map((one, index) => (
        <span key={one.tool_use_id}>
          {index > 0 && ', '}
          <a href={linkTo(one.session_thread_id, one.tool_use_id)}>tool call {index + 1}</a>
        </span>
      ))}
    </>
  );
}

const causeWords: Readonly<Record<string, string>> = {
  turn: 'found at the end of a turn',
  outside: 'found while no tool call ran',
  setup: 'setup command',
  restore: 'restored',
  merge: 'merged from a thread',
  tool: 'a tool call',
  recovered: 'found after a crash',
};

function modeChange({ before, after }: WorkspaceDiff): string {
  if (before === null || after === null || before.mode === after.mode) return '';
  return `, mode ${before.mode} → ${after.mode}`;
}

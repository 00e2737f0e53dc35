import type { WorkspaceChanges } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { useEffect, useRef } from 'react';
import { VList, type VListHandle } from 'virtua';
import { formatNumber } from '../../model/format.ts';
import { messageOf } from './changes-api.ts';
import { changesPage } from './changes-page.ts';
import type { FileRow } from './file-rows.ts';
import { LineCounts } from '../../ui/LineCounts.tsx';
import type { TreeFiles } from './use-tree-files.ts';

interface FileTreeProps {
  readonly changes: WorkspaceChanges;
  readonly shown: TreeFiles;
}

/** The changed files, or all files of the moment shown, as a tree. Checked files are the files to apply. */
export function FileTree({ changes, shown }: FileTreeProps) {
  const list = useRef<VListHandle>(null);
  const { isWholeTree, chosen } = changesPage;
  const { rows, current, tree } = shown;
  useEffect(() => changesPage.list(rows.flatMap((row) => (row.type === 'file' ? row.path : []))), [rows]);
  const changed = changes.files.map(({ path }) => path);
  useEffect(() => {
    const index = rows.findIndex((row) => row.type === 'file' && row.path === current);
    if (index !== -1) list.current?.scrollToIndex(index, { align: 'nearest' });
    // Scrolls only when the selection changes.
  }, [current]);
  const isAllChosen = changed.length > 0 && changed.every((path) => chosen.has(path));
  return (
    <section className="file-tree" aria-label="Files">
      <div className="file-tree-head">
        <label>
          <input
            type="checkbox"
            checked={isAllChosen}
            disabled={changed.length === 0}
            onChange={() => changesPage.choose(changed, !isAllChosen)}
          />{' '}
          {chosen.size === 0 ? 'Choose files' : `${chosen.size} chosen`}
        </label>
        <span className="choice" role="group" aria-label="Files to list">
          <button type="button" aria-pressed={!isWholeTree} onClick={() => changesPage.set({ isWholeTree: false })}>
            Changed
          </button>
          <button type="button" aria-pressed={isWholeTree} onClick={() => changesPage.set({ isWholeTree: true })}>
            All
          </button>
        </span>
      </div>
      {isWholeTree && tree.problem !== undefined && (
        <p className="fault" role="alert">
          {cleanLine(messageOf(tree.problem))}
        </p>
      )}
      {isWholeTree && tree.isLoading && tree.value === undefined && <p className="quiet">Loading the files …</p>}
      {isWholeTree && tree.value?.next_after != null && (
        <p className="quiet">The first {formatNumber(tree.value.entries.length)} files are listed.</p>
      )}
      <VList ref={list} data={rows} className="file-list" tabIndex={0} role="group" aria-label="Files of the session">
        {(row) => (
          <Row
            key={`${row.type} ${row.path}`}
            row={row}
            isSelected={row.path === current}
            isChosen={chosen.has(row.path)}
          />
        )}
      </VList>
    </section>
  );
}

function Row({ row, isSelected, isChosen }: { row: FileRow; isSelected: boolean; isChosen: boolean }) {
  const style = { paddingLeft: 8 + row.level * 12 };
  if (row.type === 'directory')
    return (
      <div className="file-row" style={style}>
        <button type="button" aria-expanded={row.isOpen} onClick={() => changesPage.toggleDirectory(row.path)}>
          {row.isOpen ? '▾' : '▸'} <span className="file-name">{cleanLine(row.name)}/</span>
        </button>
      </div>
    );
  const { status, added = null, removed = null } = row.file;
  const open = () => changesPage.set({ path: row.path, ...(status === undefined ? { view: 'file' } : {}) });
  return (
    <div className="file-row" style={style} data-selected={isSelected}>
      {status !== undefined && (
        <input
          type="checkbox"
          aria-label={`Choose ${cleanLine(row.path)}`}
          checked={isChosen}
          onChange={() => changesPage.choose([row.path], !isChosen)}
        />
      )}
      <button type="button" aria-current={isSelected ? 'true' : undefined} title={cleanLine(row.path)} onClick={open}>
        {status !== undefined && (
          <>
            <b data-status={status} aria-hidden="true">
              {statusLetters[status] ?? '?'}
            </b>
            <span className="hidden-text">{status} </span>
          </>
        )}
        <span className="file-name">{cleanLine(row.name)}</span>
        {status !== undefined && <LineCounts added={added} removed={removed} />}
      </button>
    </div>
  );
}

const statusLetters: Readonly<Record<string, string>> = { added: 'A', modified: 'M', deleted: 'D' };

import type { FileCounts, WorkspaceFile } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { formatNumber, plural } from '../../model/format.ts';
import { LineCounts } from '../../ui/LineCounts.tsx';

/** The files that an action writes or removes, with their totals. */
export function FileList({ of }: { of: FileCounts & { readonly files: readonly WorkspaceFile[] } }) {
  const { files, files_count: count } = of;
  const shown = files.slice(0, SHOWN);
  return (
    <div className="changed-files" tabIndex={0} role="group" aria-label="Files">
      <p>
        {plural(count, 'file')}, <LineCounts added={of.lines_added} removed={of.lines_removed} />
      </p>
      <ul>
        {shown.map(({ path, status, added, removed }) => (
          <li key={path}>
            <span className="quiet">{status}</span> <code>{cleanLine(path)}</code>{' '}
            <LineCounts added={added} removed={removed} />
          </li>
        ))}
      </ul>
      {count > shown.length && <p className="quiet">and {formatNumber(count - shown.length)} more</p>}
    </div>
  );
}

const SHOWN = 100;

import { plural } from '../../model/format.ts';
import type { ShownRow } from '../../model/summary.ts';
import type { WorkspaceStep } from '../../model/workspace-log.ts';
import { toHash } from '../../stores/ui-store.ts';
import { LineCounts } from '../../ui/LineCounts.tsx';

/** A line of the transcript with the number of changed files and a link to the changes. */
export function ChangedFiles({ step, row }: { step: WorkspaceStep; row: ShownRow }) {
  const { files_count: count, lines_added: added, lines_removed: removed } = step;
  const { sessionId, threadId } = row;
  return (
    <div className="block" data-block="changed">
      <span className="block-glyph" data-ink="tool" aria-hidden="true">
        ±
      </span>
      <span>
        <a href={toHash({ view: 'session', sessionId, threadId: threadId ?? undefined, tab: 'changes' })}>
          {plural(count, 'file')} changed
        </a>
        , <LineCounts added={added} removed={removed} />
      </span>
    </div>
  );
}

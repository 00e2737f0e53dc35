import type { FileFacts, WorkspaceChanges } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { useMemo } from 'react';
import { VList } from 'virtua';
import { formatBytes } from '../../model/format.ts';
import { api } from '../../stores/connection/api.ts';
import { codeFamilyOf } from '../../ui/text/highlight-code.ts';
import { changesApi, messageOf } from './changes-api.ts';
import { CodeLine } from './CodeLine.tsx';
import { changesTabLimits } from './limits.ts';
import { useLoaded } from '../../ui/use-loaded.ts';

/** A whole file as it was at the end of the range. */
export function FileContent({ changes, path, facts }: { changes: WorkspaceChanges; path: string; facts: FileFacts }) {
  const { session_id: sessionId, to } = changes;
  const isShown = facts.bytes !== null && facts.bytes <= changesTabLimits.fileBytesMax;
  const content = useLoaded(isShown ? `${sessionId} ${path}` : undefined, to!.tree, () =>
    api.bytes(changesApi.contentPath(sessionId, path, to!.cursor)),
  );
  const lines = useMemo(() => (content.value === undefined ? undefined : toLines(content.value)), [content.value]);
  if (facts.bytes === null) return <p className="file-note quiet">A submodule; its files are not recorded.</p>;
  if (!isShown)
    return <p className="file-note quiet">The file has {formatBytes(facts.bytes)}. Download it to read it.</p>;
  if (content.problem !== undefined)
    return (
      <p className="file-note fault" role="alert">
        {cleanLine(messageOf(content.problem))}
      </p>
    );
  if (content.value === undefined) return <p className="file-note quiet">Loading …</p>;
  if (lines === undefined) return <p className="file-note quiet">The file is not text.</p>;
  const family = codeFamilyOf(path);
  return (
    <VList className="code-lines" data={lines} tabIndex={0} role="group" aria-label="Content of the file">
      {(line, index) => (
        <div key={index} className="code-line" data-diff="whole">
          <i aria-hidden="true">{index + 1}</i>
          <CodeLine text={line} family={family} />
        </div>
      )}
    </VList>
  );
}

/** The lines of a text. Undefined for bytes that are not text, by git's rule: a zero among the first 8,000. */
function toLines(bytes: Uint8Array): readonly string[] | undefined {
  if (bytes.subarray(0, 8_000).includes(0)) return undefined;
  const lines = new TextDecoder().decode(bytes).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

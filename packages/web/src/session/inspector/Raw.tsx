import { useEffect, useState } from 'react';
import { formatNumber } from '../../model/format.ts';
import { LongText } from '../../ui/text/LongText.tsx';
import { openLog } from './open-log.ts';
import { findRawLines, type RawLine } from './raw-lines.ts';
import type { Block } from '../transcript/blocks.ts';

/** The lines of the exported log behind a block, with byte offsets and hashes, to verify what is shown. */
export function Raw({ sessionId, block }: { sessionId: string; block: Block }) {
  const [lines, setLines] = useState<readonly RawLine[] | string | undefined>();
  const ids = block.events.map(({ id }) => id).join(' ');
  useEffect(() => {
    const ended = new AbortController();
    setLines(undefined);
    readRaw(sessionId, new Set(ids.split(' ')), ended.signal).then(setLines, (error: unknown) => {
      if (!ended.signal.aborted) setLines(String(error));
    });
    return () => ended.abort();
  }, [sessionId, ids]);
  if (lines === undefined) return <p className="quiet">Loading …</p>;
  if (typeof lines === 'string') return <p className="fault">{lines}</p>;
  return lines.map(({ text, offset, hash }) => (
    <div key={offset}>
      <p className="quiet raw-place">
        byte {formatNumber(offset)}
        {hash !== '' && ` · sha256 ${hash}`}
      </p>
      <LongText text={text} />
    </div>
  ));
}

async function readRaw(sessionId: string, ids: ReadonlySet<string>, signal: AbortSignal): Promise<readonly RawLine[]> {
  return await findRawLines(await openLog(sessionId, signal), ids);
}

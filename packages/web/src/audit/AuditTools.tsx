import { useEffect, useRef, useState } from 'react';
import { formatDay, formatNumber } from '../model/format.ts';
import { serverNow } from '../stores/connection/clock.ts';
import { useAction } from '../ui/admin/use-action.ts';
import { saveText } from '../ui/save-file.ts';
import { readAll } from './read-audit.ts';
import { UNCHECKED, type Verdict, verifyEnd, verifyNext } from './verify-chain.ts';

/** Verifies the whole log in this browser, and saves it as JSON lines. */
export function AuditTools() {
  const [verdict, setVerdict] = useState<Verdict | undefined>();
  const [isWhole, setWhole] = useState(false);
  const { isBusy, problem, run } = useAction();
  const gone = useRef(new AbortController());
  useEffect(() => () => gone.current.abort(), []);
  const verify = async () => {
    setWhole(false);
    let next = UNCHECKED;
    for await (const { data, start, head, next_after: after } of readAll(gone.current.signal)) {
      next = await verifyNext(next, data, start);
      if (after === null) next = verifyEnd(next, start, head);
      setVerdict(next);
    }
    setWhole(true);
  };
  const save = async () => {
    const lines: string[] = [];
    for await (const { data } of readAll(gone.current.signal))
      lines.push(...data.map((entry) => JSON.stringify(entry)));
    const name = `fleetloom-audit-${formatDay(serverNow())}.jsonl`;
    saveText(lines.map((line) => `${line}\n`).join(''), 'application/x-ndjson', name);
  };
  return (
    <span data-needs="admin" className="admin-actions">
      <button type="button" disabled={isBusy || !CAN_HASH} onClick={() => run(verify)}>
        Verify
      </button>
      <button type="button" disabled={isBusy} onClick={() => run(save)}>
        Export as JSON lines
      </button>
      {!CAN_HASH && <span className="quiet">To verify here, open the dashboard by https.</span>}
      {problem !== '' && (
        <span className="fault" role="alert">
          {problem}
        </span>
      )}
      {verdict !== undefined && <Result verdict={verdict} isWhole={isWhole} />}
    </span>
  );
}

/** Browsers have no `crypto.subtle` on pages that were loaded with http from another machine. */
const CAN_HASH = globalThis.crypto?.subtle !== undefined;

function Result({ verdict: { checked, problems, last }, isWhole }: { verdict: Verdict; isWhole: boolean }) {
  if (!isWhole) {
    return (
      <span className="quiet" role="status">
        {formatNumber(checked)} entries checked …
      </span>
    );
  }
  if (problems.length > 0) {
    return (
      <ul className="fault audit-problems" role="alert" aria-label="Problems">
        {problems.map((problem) => (
          <li key={problem}>✗ {problem}</li>
        ))}
      </ul>
    );
  }
  return (
    <span role="status">
      ✓ {formatNumber(checked)} entries verified
      {last !== undefined && (
        <span className="quiet">
          , anchor{' '}
          <code>
            {last.seq}:{last.hash}
          </code>
        </span>
      )}
    </span>
  );
}

import { inBackground } from '../connection/in-background.ts';
import { useEffect, useState } from 'react';
import { cleanText } from '../text/clean-text.ts';
import { CopyLine } from '../text/CopyLine.tsx';
import { type DecisionFacts, findDecision } from './find-decision.ts';
import { openLog } from './open-log.ts';

/** Who decided about a call, when, by which rule and about what exactly, as the log has it. */
export function Decision({ sessionId, eventId }: { sessionId: string; eventId: string }) {
  const [facts, setFacts] = useState<DecisionFacts | string>('Reading …');
  useEffect(() => {
    const ended = new AbortController();
    setFacts('Reading …');
    const reading = openLog(sessionId, ended.signal)
      .then((body) => findDecision(body, eventId))
      .then((found) => found ?? 'The log does not have it.')
      .catch(String)
      .then((found) => {
        if (!ended.signal.aborted) setFacts(found);
      });
    inBackground(reading);
    return () => ended.abort();
  }, [sessionId, eventId]);
  return (
    <section aria-label="Decision">
      <h2>decision</h2>
      {typeof facts === 'string' ? <p className="quiet">{facts}</p> : <Facts facts={facts} />}
    </section>
  );
}

export function Facts({ facts }: { facts: DecisionFacts }) {
  const { verdict, at, by, rule, inputSha256, updatedInput } = facts;
  const isOlder = inputSha256 === null;
  return (
    <dl className="trace">
      <dt>{verdict} by</dt>
      <dd>{by === null ? NOT_KEPT : cleanText(by)}</dd>
      <dt>at</dt>
      <dd>{new Date(at).toISOString()}</dd>
      <dt>by the rule</dt>
      <dd>{rule !== null ? cleanText(rule) : isOlder ? NOT_KEPT : 'none: it was decided by itself'}</dd>
      <dt>SHA-256 of the input</dt>
      <dd>{isOlder ? NOT_KEPT : <CopyLine text={inputSha256} />}</dd>
      {updatedInput !== undefined && (
        <>
          <dt>changed to</dt>
          <dd>{cleanText(updatedInput)}</dd>
        </>
      )}
    </dl>
  );
}

/** Older logs do not say everything. */
const NOT_KEPT = 'not kept by this log';

import { inBackground } from '../../stores/connection/in-background.ts';
import { useEffect, useState } from 'react';
import { cleanText } from '@fleetloom/protocol/text';
import { CopyLine } from '../../ui/text/CopyLine.tsx';
import { type DecisionFacts, findDecision } from './find-decision.ts';
import { openLog } from './open-log.ts';

/** The decision about a call, from the log: user, time, rule, hash of the input. */
export function Decision({ sessionId, eventId }: { sessionId: string; eventId: string }) {
  const [facts, setFacts] = useState<DecisionFacts | string>('Loading …');
  useEffect(() => {
    const ended = new AbortController();
    setFacts('Loading …');
    const reading = openLog(sessionId, ended.signal)
      .then((body) => findDecision(body, eventId))
      .then((found) => found ?? 'The log does not contain this decision.')
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

/** The facts of a decision as a list. */
export function Facts({ facts }: { facts: DecisionFacts }) {
  const { verdict, at, by, rule, inputSha256, updatedInput, isLate } = facts;
  const isOlder = inputSha256 === null && isLate !== true;
  return (
    <dl className="trace">
      <dt>{verdict} by</dt>
      <dd>{by === null ? NOT_RECORDED : cleanText(by)}</dd>
      <dt>at</dt>
      <dd>{new Date(at).toISOString()}</dd>
      {isLate === true && (
        <>
          <dt>applied</dt>
          <dd>no, the call was no longer pending</dd>
        </>
      )}
      <dt>rule</dt>
      <dd>{rule !== null ? cleanText(rule) : isOlder ? NOT_RECORDED : 'none, decided individually'}</dd>
      <dt>SHA-256 of the input</dt>
      <dd>{inputSha256 === null ? NOT_RECORDED : <CopyLine text={inputSha256} />}</dd>
      {updatedInput !== undefined && (
        <>
          <dt>changed to</dt>
          <dd>{cleanText(updatedInput)}</dd>
        </>
      )}
    </dl>
  );
}

/** The text for a field that an older log lacks. */
const NOT_RECORDED = 'not recorded in this log';

import { fleet } from '../stores/stores.ts';
import { formatClock, formatDuration } from '../model/format.ts';
import { toLabel as inputLabel } from '@fleetloom/protocol/fleet';
import { cleanLine, cleanText } from '@fleetloom/protocol/text';
import { ShortHash } from '../ui/text/ShortHash.tsx';

/** Decisions of all users. If several users decide a call, the first decision counts; this list shows it to the others. */
export function RecentDecisions() {
  const decided = fleet
    .shown()
    .flatMap(({ slots }) => slots.runs.flatMap(({ approvals }) => approvals.filter(({ state }) => state !== 'open')))
    .toSorted((left, right) => (right.resolvedAt ?? 0) - (left.resolvedAt ?? 0))
    .slice(0, SHOWN);
  if (decided.length === 0) return null;
  return (
    <section className="decided" aria-label="Recent decisions">
      <h2>Recent decisions</h2>
      <table>
        <tbody>
          {decided.map((one) => (
            <tr key={one.toolUseId}>
              <td title={one.resolvedAt === null ? undefined : new Date(one.resolvedAt).toISOString()}>
                {one.resolvedAt === null ? '' : formatClock(one.resolvedAt)}
              </td>
              <td data-ink={one.result === 'allow' ? 'tool' : one.result === 'deny' ? 'error' : 'done'}>
                {one.result === 'allow' ? '✓ approved' : one.result === 'deny' ? '✗ denied' : '■ withdrawn'}
                {one.updatedInput !== null && ' with changes'}
              </td>
              <td>{cleanLine(one.agent)}</td>
              <td className="mono">
                <div>{cleanLine(`${one.tool}: ${inputLabel(one.input)}`)}</div>
                {one.updatedInput !== null && (
                  <div className="quiet">changed to {cleanLine(inputLabel(one.updatedInput))}</div>
                )}
                {one.rule !== null && (
                  <div className="quiet" title={cleanText(one.rule)}>
                    {one.ruleId === null ? 'rule' : 'by the server, rule'} {cleanLine(one.rule)}
                  </div>
                )}
              </td>
              <td className="hash">
                {one.inputSha256 !== null && <ShortHash hash={one.inputSha256} of="the input" />}
              </td>
              <td className="quiet">{one.by === null ? '' : `by ${cleanLine(one.by)}`}</td>
              <td className="quiet span">
                {one.resolvedAt !== null &&
                  one.askedAt !== null &&
                  `after ${formatDuration(one.resolvedAt - one.askedAt)}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const SHOWN = 20;

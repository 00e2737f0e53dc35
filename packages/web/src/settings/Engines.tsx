import type { FleetProgram, FleetSettings } from '@fleetloom/protocol/fleet';
import { cleanLine } from '@fleetloom/protocol/text';
import { CopyLine } from '../ui/text/CopyLine.tsx';
import { type Finding, listFindings } from './list-findings.ts';

const marks = { ok: ['✓', 'tool'], note: ['·', 'queued'], problem: ['✗', 'error'] } as const;
const words: Readonly<Record<Finding['state'], string>> = { ok: 'works', note: 'note', problem: 'problem' };

/** The engines and programs that run agents and their tools on the server's machine, and missing ones. */
export function Engines({ settings, programs }: { settings: FleetSettings; programs: readonly FleetProgram[] }) {
  return (
    <>
      <ul className="findings">
        {listFindings(settings, programs).map(({ name, state, text, fix }) => (
          <li key={`${name} ${text}`}>
            <i data-ink={marks[state][1]} title={words[state]} aria-hidden="true">
              {marks[state][0]}
            </i>
            <b>{name}</b>
            <span>
              <span className="hidden-text">{words[state]}: </span>
              {cleanLine(text)}
              {fix !== undefined && <span className="quiet"> {cleanLine(fix)}</span>}
            </span>
          </li>
        ))}
      </ul>
      <p className="quiet">On the server's machine, this checks the same and more:</p>
      <CopyLine text="npx fleetloom doctor" />
    </>
  );
}

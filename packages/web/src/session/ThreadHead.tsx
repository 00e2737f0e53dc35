import { describeSettings, hasExamplePrice, type LoadedSettings, states } from '@fleetloom/protocol/fleet';
import { canContinue, continueSession, interruptRow, writeTo } from '../stores/actions.ts';
import { Glyph } from '../ui/Glyph.tsx';
import { fleet, ui } from '../stores/stores.ts';
import { toRowCells } from '../ui/row-cells.ts';
import { inbox } from '../stores/inbox-store.ts';
import type { ShownRow } from '../model/summary.ts';
import { cleanLine } from '@fleetloom/protocol/text';
import { threadPage } from './transcript/thread-page.ts';

/** Name, state, usage and actions of a thread. */
export function ThreadHead({ row, isCutOff }: { row: ShownRow; isCutOff: boolean }) {
  const cells = toRowCells(row, fleet.now(), fleet.isLive);
  const isPast = fleet.replay.isOn;
  const isOpen = states[row.state].isOpen && !isPast;
  const { settings: loaded } = row;
  const [asked] = isPast ? [] : row.approvals;
  return (
    <header className="thread-head">
      <h1>
        {cells.agent}
        {cells.ordinal > 0 && <span className="ordinal">{cells.ordinal}</span>}
      </h1>
      <span data-ink={cells.state} className="thread-state">
        <Glyph glyph={cells.glyph} /> {cells.word} <span className="quiet">{cells.inState}</span>
      </span>
      <span className="quiet thread-facts">
        {cells.model} · {cells.tokens} tokens · {hasExamplePrice(row.slot.model ?? '') && 'e.g. '}
        {cells.cost}
        {cells.costBelow !== '' && ` (Σ ${cells.costBelow})`}
        {cells.context >= 0 && ` · context ${cells.context} %`}
        {loaded !== null && <span title={toSettingsLines(loaded)}> · {cleanLine(describeSettings(loaded))}</span>}
      </span>
      <span className="thread-actions">
        {asked !== undefined && (
          <button
            type="button"
            className="primary"
            onClick={() => {
              inbox.select(asked.toolUseId);
              ui.go({ view: 'inbox' });
            }}
          >
            Answer <kbd>n</kbd>
          </button>
        )}
        {canContinue(row, undefined, isCutOff) && (
          <button type="button" className="primary" onClick={() => void continueSession(row.sessionId)}>
            Continue
          </button>
        )}
        {!isPast && (
          <button type="button" onClick={() => writeTo(row)}>
            Message <kbd>s</kbd>
          </button>
        )}
        {isOpen && (
          <button type="button" className="danger" onClick={() => interruptRow(row, false)}>
            Interrupt <kbd>x</kbd>
          </button>
        )}
        <button
          type="button"
          className="inspector-button"
          aria-pressed={threadPage.isInspectorOpen}
          onClick={() => threadPage.toggleInspector()}
        >
          Inspector <kbd>i</kbd>
        </button>
      </span>
    </header>
  );
}

/** Every loaded setting on its own line. */
function toSettingsLines({ instructions, hooks, agents, skills, rules }: LoadedSettings): string {
  const named = (name: string, items: readonly string[]) => items.map((item) => cleanLine(`${name} ${item}`));
  return [
    ...named('instructions', instructions),
    ...named('hook', hooks),
    ...named('agent', agents),
    ...named('skill', skills),
    ...named('rule', rules),
  ].join('\n');
}

import { diffLines } from '../../model/diff-lines.ts';
import { cleanText } from '@fleetloom/protocol/text';

const signs = { same: ' ', added: '+', removed: '−' } as const;

/** A line diff, with signs and colours. */
export function Diff({ before, after }: { before: string; after: string }) {
  const lines = diffLines(before, after);
  return (
    <div className="diff" role="group" aria-label="Changes">
      {lines.map(({ type, text }, index) => (
        <div key={index} data-diff={type}>
          <i aria-hidden="true">{signs[type]}</i>
          <span>{cleanText(text) || ' '}</span>
          {type !== 'same' && <span className="hidden-text">{type}</span>}
        </div>
      ))}
    </div>
  );
}

import { cutText } from '@fleetloom/protocol/fleet';
import { cleanText } from '@fleetloom/protocol/text';
import { memo } from 'react';
import { plural } from '../../model/format.ts';
import { type CodeFamily, highlightCode } from '../../ui/text/highlight-code.ts';
import { changesTabLimits } from './limits.ts';

/** A line of code, highlighted, with hidden characters shown by name. A very long line is cut. */
export const CodeLine = memo(function CodeLine({ text, family }: { text: string; family: CodeFamily }) {
  const isLong = text.length > changesTabLimits.lineCharsMax;
  const shown = cleanText(isLong ? cutText(text, changesTabLimits.lineCharsMax) : text);
  return (
    <code>
      {highlightCode(shown, family).map(({ kind, text: part }, index) =>
        kind === 'plain' ? (
          part
        ) : (
          <span key={index} data-code={kind}>
            {part}
          </span>
        ),
      )}
      {isLong && (
        <span className="quiet"> … {plural(text.length - changesTabLimits.lineCharsMax, 'more character')}</span>
      )}
      {shown === '' && ' '}
    </code>
  );
});

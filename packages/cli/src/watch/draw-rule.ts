import { cleanLine } from '../terminal/clean-text.ts';
import { type Row, span } from '../terminal/row.ts';
import { wrapText } from '../terminal/text-width.ts';
import type { Ask } from './asks.ts';
import type { WatchDrawing } from './draw-watch.ts';
import { describeRule, isAllowed, toRule } from './rule.ts';

/** The rule that is being made, whole, with what of what waits it would allow. */
export function drawRule(ask: Ask, pattern: string, asks: readonly Ask[], { width }: WatchDrawing): Row[] {
  const rule = { ...toRule(ask), pattern };
  const fits = asks.filter((each) => isAllowed(rule, each)).length;
  const fields = typeof ask.input === 'object' && ask.input !== null ? Object.keys(ask.input).length : 0;
  const others = rule.field === null || fields < 2 ? '' : '; other fields: anything';
  const star = rule.field === 'command' ? '* is anything but another command' : '* is anything on one line';
  return [
    { left: [span(' Approve without asking, until you leave this view:', 'attention')], right: [] },
    ...wrapText(cleanLine(showLineEnds(describeRule(rule))), width - 4).map(
      (line): Row => ({ left: [span(`    ${line}`, 'bold')], right: [] }),
    ),
    { left: [span(`   fits ${fits} of ${asks.length} that wait (${star}${others})`, 'dim')], right: [] },
  ];
}

/** A rule is exact, so the end of a line in it is seen. */
export function showLineEnds(text: string): string {
  return text.replaceAll('\n', String.raw`\n`);
}

import { cleanLine } from '@fleetloom/protocol/text';
import { type Row, span } from '../../terminal/row.ts';
import { wrapText } from '../../terminal/text-width.ts';
import type { PendingCall } from '../state/pending-calls.ts';
import type { WatchDrawing } from './watch-drawing.ts';
import { describeRule, isAllowed, toRule } from '../state/rule.ts';

/** Preview of the rule being typed: the whole rule, and how many pending requests it matches. */
export function drawRule(
  pendingCall: PendingCall,
  pattern: string,
  pendingCalls: readonly PendingCall[],
  { width }: WatchDrawing,
): Row[] {
  const rule = { ...toRule(pendingCall), pattern };
  const fits = pendingCalls.filter((each) => isAllowed(rule, each)).length;
  const fields =
    typeof pendingCall.input === 'object' && pendingCall.input !== null ? Object.keys(pendingCall.input).length : 0;
  const others = rule.field === null || fields < 2 ? '' : '; other fields: any';
  const star = rule.field === 'command' ? '* is any text except another command' : '* is any text on one line';
  return [
    { left: [span(' Approve automatically until you quit:', 'attention')], right: [] },
    ...wrapText(cleanLine(showLineEnds(describeRule(rule))), width - 4).map(
      (line): Row => ({ left: [span(`    ${line}`, 'bold')], right: [] }),
    ),
    { left: [span(`   matches ${fits} of ${pendingCalls.length} pending (${star}${others})`, 'dim')], right: [] },
  ];
}

/** A rule is exact, so line breaks are shown. */
export function showLineEnds(text: string): string {
  return text.replaceAll('\n', String.raw`\n`);
}

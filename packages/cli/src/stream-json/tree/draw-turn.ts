import { cutText } from '@fleetloom/protocol/fleet';
import type { TurnComplete } from '@fleetloom/protocol/stream-json';
import { cleanLine, formatCost, formatCount, formatSpan } from '@fleetloom/protocol/text';
import type { Overview } from '../overview/overview.ts';
import { type Row, type Span, span } from '../../terminal/row.ts';
import { type Drawing, TIME_WIDTH } from './drawing.ts';

/** The end of a turn: status, tokens, cost, duration. */
export function drawTurn(overview: Overview, { glyphs }: Drawing, turn: TurnComplete, beside: Span): Row {
  const number = overview.turnsStarted > 1 || turn.turn > 0 ? `turn ${turn.turn + 1}` : 'turn';
  const outcome = turn.isError
    ? [span(`${glyphs.failed} ${number} failed  ${reasonOf(turn)}`, 'failed')]
    : [span(`${glyphs.done} `, 'ok'), span(`${number} done`)];
  const about = [originOf(turn), tokensOf(turn)].filter((part) => part !== '').join(` ${glyphs.dot} `);
  const cost = turn.costUsd === undefined ? '' : formatCost(turn.costUsd);
  const time = turn.durationMs === undefined ? '' : formatSpan(turn.durationMs);
  return {
    left: [beside, ...outcome, span(about === '' ? '' : `  ${about}`, 'dim')],
    right: [span(cost, 'bold'), span(time.padStart(TIME_WIDTH), 'dim')],
  };
}

function reasonOf(turn: TurnComplete): string {
  const subtype = turn.subtype === undefined || turn.subtype === 'success' ? '' : turn.subtype.replaceAll('_', ' ');
  const said = turn.errors?.[0] ?? turn.result ?? '';
  return cleanLine(cutText([subtype, said].filter((part) => part !== '').join(': '), 400));
}

function originOf(turn: TurnComplete): string {
  return turn.origin === undefined ? '' : `after ${cleanLine(turn.origin).replace('-', ' ')}`;
}

function tokensOf(turn: TurnComplete): string {
  // A late result has the cost of its turn, but its tokens count for the previous turn.
  if (!turn.inputTokens || turn.outputTokens === undefined) return '';
  return `${formatCount(turn.inputTokens)} tokens in, ${formatCount(turn.outputTokens)} out`;
}

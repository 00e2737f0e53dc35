import type { WorkBudget } from '../../../../base/bounded-pattern.ts';
import { type Conversation, countAnswers, newestUserContent } from './conversation.ts';
import { matchText } from '../script/match-text.ts';
import { InvalidInput } from '../script/invalid-input.ts';
import type { Script, Turn } from '../script/script.ts';

/** The turn for this request, and its path in the script. */
export function chooseTurn(
  script: Script,
  conversation: Conversation,
  budget: WorkBudget,
): { turn: Turn; path: string } {
  if (script.type === 'turns') {
    const at = Math.min(countAnswers(conversation), script.turns.length - 1);
    return { turn: script.turns[at] ?? [], path: `turns[${at}]` };
  }
  const content = newestUserContent(conversation);
  for (const [at, { match, turn }] of script.cases.entries()) {
    if (matchText(match, content, `when[${at}].match`, budget)) return { turn, path: `when[${at}].turn` };
  }
  if (script.otherwise !== undefined) return { turn: script.otherwise, path: 'else' };
  throw new InvalidInput('when', 'nothing matches the newest user content, and there is no `else`');
}

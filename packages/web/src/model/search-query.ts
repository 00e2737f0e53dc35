import type { ShownRow } from './summary.ts';
import { groupOf } from './summary.ts';

/** One term of a search. All terms have to match. */
export type Term =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'agent' | 'is' | 'tool' | 'model' | 'path'; readonly text: string }
  | { readonly type: 'cost'; readonly sign: '>' | '<'; readonly usd: number };

/** The terms of a query such as `tester is:error cost>0.5 tool:bash path:src agent:"two words"`. */
export function parseQuery(query: string): readonly Term[] {
  const words = query.match(/(?:[^\s"]+:)?"[^"]*"|\S+/g) ?? [];
  return words.map((word) => toTerm(word.replaceAll('"', '').toLowerCase()));
}

function toTerm(word: string): Term {
  const cost = /^cost([<>])(\d*\.?\d+)$/.exec(word);
  if (cost !== null) return { type: 'cost', sign: cost[1] === '<' ? '<' : '>', usd: Number(cost[2]) };
  const [field, ...rest] = word.split(':');
  const text = rest.join(':');
  if (
    text !== '' &&
    (field === 'agent' || field === 'is' || field === 'tool' || field === 'model' || field === 'path')
  ) {
    return { type: field, text };
  }
  return { type: 'text', text: word };
}

/** Whether a row matches all terms. */
export function matches(row: ShownRow, terms: readonly Term[]): boolean {
  return terms.every((term) => matchesOne(row, term));
}

/** Whether a row matches one term. */
export function matchesOne(row: ShownRow, term: Term): boolean {
  const { slot } = row;
  switch (term.type) {
    case 'cost':
      return term.sign === '>' ? row.usage.costUsd > term.usd : row.usage.costUsd < term.usd;
    case 'agent':
      return has(row.agent, term.text);
    case 'is':
      return row.word.includes(term.text) || row.state === term.text || groupOf(row.state) === term.text;
    case 'model':
      return has(slot.model ?? '', term.text);
    case 'tool':
      return slot.tools.some(({ tool }) => has(tool, term.text));
    case 'path':
      return (
        slot.files.some(({ path }) => has(path, term.text)) || slot.tools.some(({ label }) => has(label, term.text))
      );
    case 'text': {
      const said = [row.agent, row.word, slot.task ?? '', slot.text.tail, slot.error ?? ''];
      return (
        said.some((text) => has(text, term.text)) ||
        slot.tools.some(({ tool, label }) => has(`${tool} ${label}`, term.text))
      );
    }
  }
}

function has(text: string, wanted: string): boolean {
  return text.toLowerCase().includes(wanted);
}

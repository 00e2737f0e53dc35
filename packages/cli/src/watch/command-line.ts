import type { WatchAction } from './action.ts';
import { type Order, orders } from './ordering.ts';
import { describeRule } from './rule.ts';
import type { WatchModel } from './watch-model.ts';

/** A line that was typed behind `:`. What it cannot do it says, with the reason. */
interface WatchCommand {
  readonly name: string;
  /** What follows it, and what it does. */
  readonly takes: string;
  readonly help: string;
  /** What may follow, for completion. */
  readonly words: readonly string[];
  readonly run: (model: WatchModel, rest: string, nowMs: number) => WatchAction | undefined;
}

export const watchCommands: readonly WatchCommand[] = [
  {
    name: 'sort',
    takes: orders.join('|'),
    help: 'in which order threads stand',
    words: orders,
    run: (model, rest, nowMs) => {
      // What is none of them is told below.
      if (orders.includes(rest as Order)) model.order = rest as Order;
      else model.say(`:sort takes ${orders.join(', ')}.`, nowMs);
      return undefined;
    },
  },
  {
    name: 'filter',
    takes: '[text]',
    help: 'show only threads with this text',
    words: [],
    run: (model, rest) => {
      model.filter = rest;
      return undefined;
    },
  },
  {
    name: 'budget',
    takes: 'dollars|off',
    help: 'what it may cost, if it has a budget',
    words: ['off'],
    run: (model, rest, nowMs) => {
      if (rest === 'off') return { type: 'update', body: { budget: null }, done: 'There is no budget any more.' };
      const usd = Number(rest.replace(/^\$/, ''));
      if (rest === '' || !(usd > 0) || usd > 1e9) {
        model.say(':budget takes an amount of US dollars such as 20, or off.', nowMs);
        return undefined;
      }
      const amount = String(Math.round(usd * 100));
      const budget = { type: 'limit', max_list_cost: { amount, currency: 'USD' } };
      return { type: 'update', body: { budget }, done: `The budget is $${usd.toFixed(2)} now.` };
    },
  },
  {
    name: 'title',
    takes: 'text',
    help: 'name the session',
    words: [],
    run: (_model, rest) => {
      return {
        type: 'update',
        body: { title: rest === '' ? null : rest },
        done: rest === '' ? 'It has no title now.' : `It is called "${rest}" now.`,
      };
    },
  },
  {
    name: 'export',
    takes: '[file]',
    help: 'write all that happened as JSON lines',
    words: [],
    run: ({ sessionId }, rest) => ({ type: 'export', file: rest === '' ? `${sessionId}.ndjson` : rest }),
  },
  {
    name: 'replay',
    takes: '',
    help: 'look at the past, as R does',
    words: [],
    run: () => ({ type: 'replay' }),
  },
  {
    name: 'rules',
    takes: '[forget]',
    help: 'what is approved without asking',
    words: ['forget'],
    run: (model, rest, nowMs) => {
      if (rest === 'forget') model.rules.length = 0;
      const all = model.rules.map(describeRule).join('  ');
      model.say(all === '' ? 'Everything is asked for.' : `Approved without asking: ${all}`, nowMs);
      return undefined;
    },
  },
  {
    name: 'stop',
    takes: 'all',
    help: 'stop everybody',
    words: ['all'],
    run: (model, rest, nowMs) => {
      if (rest === 'all') return { type: 'stop', threadIds: [null], whom: 'Everybody' };
      model.say(':stop takes all; x stops one thread, X one with all below it.', nowMs);
      return undefined;
    },
  },
  {
    name: 'model',
    takes: '',
    help: 'says why it cannot be changed',
    words: [],
    run: (model, _rest, nowMs) => {
      model.say(
        'The model of a session is fixed when it begins: the API has no way to change it. "fleetloom run --model" takes another.',
        nowMs,
      );
      return undefined;
    },
  },
  {
    name: 'help',
    takes: '',
    help: 'all keys and commands',
    words: [],
    run: (model) => {
      model.open('help');
      return undefined;
    },
  },
  {
    name: 'quit',
    takes: '',
    help: 'leave; agents go on',
    words: [],
    run: () => ({ type: 'quit', isInterrupt: false }),
  },
];

export function runCommand(model: WatchModel, line: string, nowMs: number): WatchAction | undefined {
  const [, name = '', rest = ''] = /^(\S*)\s*(.*)$/s.exec(line) ?? [];
  if (name === '') return undefined;
  const found = candidatesFor(name);
  const exact = found.find((command) => command.name === name) ?? (found.length === 1 ? found[0] : undefined);
  if (exact !== undefined) return exact.run(model, rest.trim(), nowMs);
  const known = (found.length === 0 ? watchCommands : found).map((command) => `:${command.name}`).join(' ');
  model.say(found.length === 0 ? `There is no :${name}. There are ${known}` : `:${name} may be ${known}`, nowMs);
  return undefined;
}

/** As far as it is clear what is meant. */
export function completeCommand(text: string): string {
  const [, name = '', gap = '', rest = ''] = /^(\S*)(\s*)(.*)$/s.exec(text) ?? [];
  if (gap === '') {
    const found = candidatesFor(name);
    const start = commonStart(found.map((command) => command.name));
    return found.length === 0 ? text : found.length === 1 ? `${start} ` : start;
  }
  const words = (candidatesFor(name)[0]?.words ?? []).filter((word) => word.startsWith(rest));
  return words.length === 0 ? text : `${name}${gap}${commonStart(words)}`;
}

/** What the line may become, to be shown while it is typed. */
export function suggestCommands(text: string): string {
  const [, name = '', gap = ''] = /^(\S*)(\s*)/.exec(text) ?? [];
  const found = candidatesFor(name);
  const [only] = found;
  if (only !== undefined && (found.length === 1 || gap !== '')) return `${only.takes}  ${only.help}`.trim();
  return found.map((command) => command.name).join(' ');
}

function candidatesFor(name: string): readonly WatchCommand[] {
  const exact = watchCommands.filter((command) => command.name === name);
  return exact.length > 0 ? exact : watchCommands.filter((command) => command.name.startsWith(name));
}

function commonStart(words: readonly string[]): string {
  const [first = '', ...others] = words;
  let length = first.length;
  while (!others.every((word) => word.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}

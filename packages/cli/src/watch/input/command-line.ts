import type { WatchAction } from '../state/action.ts';
import { type Order, orders } from '../state/ordering.ts';
import { describeRule } from '../state/rule.ts';
import type { WatchModel } from '../state/watch-model.ts';

/** A command that can be typed after `:`. It reports why an action is not possible. */
interface WatchCommand {
  readonly name: string;
  /** The argument of the command and its description. */
  readonly takes: string;
  readonly help: string;
  /** Possible arguments, for completion. */
  readonly words: readonly string[];
  readonly run: (model: WatchModel, rest: string, nowMs: number) => WatchAction | undefined;
}

/** The commands that can be typed after `:`. */
export const watchCommands: readonly WatchCommand[] = [
  {
    name: 'sort',
    takes: orders.join('|'),
    help: 'sort threads',
    words: orders,
    run: (model, rest, nowMs) => {
      // Other values are reported below.
      if (orders.includes(rest as Order)) model.order = rest as Order;
      else model.say(`:sort takes ${orders.join(', ')}.`, nowMs);
      return undefined;
    },
  },
  {
    name: 'filter',
    takes: '[text]',
    help: 'filter threads by text',
    words: [],
    run: (model, rest) => {
      model.filter = rest;
      return undefined;
    },
  },
  {
    name: 'budget',
    takes: 'dollars|off',
    help: 'change the budget of the session',
    words: ['off'],
    run: (model, rest, nowMs) => {
      if (rest === 'off') return { type: 'update', body: { budget: null }, done: 'The budget is removed.' };
      const usd = Number(rest.replace(/^\$/, ''));
      if (rest === '' || !(usd > 0) || usd > 1e9) {
        model.say(':budget takes an amount of US dollars such as 20, or off.', nowMs);
        return undefined;
      }
      const amount = String(Math.round(usd * 100));
      const budget = { type: 'limit', max_list_cost: { amount, currency: 'USD' } };
      return { type: 'update', body: { budget }, done: `The budget is now $${usd.toFixed(2)}.` };
    },
  },
  {
    name: 'title',
    takes: 'text',
    help: 'set the title of the session',
    words: [],
    run: (_model, rest) => {
      return {
        type: 'update',
        body: { title: rest === '' ? null : rest },
        done: rest === '' ? 'The title is removed.' : `The title is now "${rest}".`,
      };
    },
  },
  {
    name: 'export',
    takes: '[file]',
    help: 'write the log of the session as JSON lines',
    words: [],
    run: ({ sessionId }, rest) => ({ type: 'export', file: rest === '' ? `${sessionId}.ndjson` : rest }),
  },
  {
    name: 'replay',
    takes: '',
    help: 'replay the session, like R',
    words: [],
    run: () => ({ type: 'replay' }),
  },
  {
    name: 'rules',
    takes: '[forget]',
    help: 'list the rules that approve automatically',
    words: ['forget'],
    run: (model, rest, nowMs) => {
      if (rest === 'forget') model.rules.length = 0;
      const all = model.rules.map(describeRule).join('  ');
      model.say(all === '' ? 'There are no rules.' : `Approved automatically: ${all}`, nowMs);
      return undefined;
    },
  },
  {
    name: 'stop',
    takes: 'all',
    help: 'interrupt all threads',
    words: ['all'],
    run: (model, rest, nowMs) => {
      if (rest === 'all') return { type: 'stop', threadIds: [null], target: 'all threads' };
      model.say(':stop takes "all"; x interrupts one thread, X also all threads below it.', nowMs);
      return undefined;
    },
  },
  {
    name: 'model',
    takes: '',
    help: 'explains why the model cannot be changed',
    words: [],
    run: (model, _rest, nowMs) => {
      model.say('The model is fixed when a session is created. Start another one with "fleetloom run --model".', nowMs);
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
    help: 'quit; agents keep working',
    words: [],
    run: () => ({ type: 'quit', isInterrupt: false }),
  },
];

/** Runs a typed command line; a unique prefix of a command is enough. */
export function runCommand(model: WatchModel, line: string, nowMs: number): WatchAction | undefined {
  const [, name = '', rest = ''] = /^(\S*)\s*(.*)$/s.exec(line) ?? [];
  if (name === '') return undefined;
  const found = candidatesFor(name);
  const exact = found.find((command) => command.name === name) ?? (found.length === 1 ? found[0] : undefined);
  if (exact !== undefined) return exact.run(model, rest.trim(), nowMs);
  const known = (found.length === 0 ? watchCommands : found).map((command) => `:${command.name}`).join(' ');
  model.say(
    found.length === 0 ? `Unknown command :${name}. Commands: ${known}` : `:${name} is ambiguous: ${known}`,
    nowMs,
  );
  return undefined;
}

/** Completes the line as far as it is unambiguous. */
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

/** The possible completions of the line. */
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

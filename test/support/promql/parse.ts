/** The part of PromQL that our alert rules and the dashboard use. Anything else is an error, so that no rule is half evaluated. */
export type Expression =
  | { readonly type: 'number'; readonly value: number }
  | Selector
  | { readonly type: 'call'; readonly name: string; readonly args: readonly Expression[] }
  | { readonly type: 'aggregate'; readonly name: string; readonly by: readonly string[]; readonly of: Expression }
  | { readonly type: 'binary'; readonly operator: string; readonly left: Expression; readonly right: Expression };

export interface Selector {
  readonly type: 'selector';
  readonly name: string;
  readonly matchers: readonly Matcher[];
  /** Undefined: the newest value. */
  readonly rangeMs: number | undefined;
}

export interface Matcher {
  readonly label: string;
  readonly operator: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

const TOKEN =
  /\s*(=~|!~|!=|==|>=|<=|[-+*/(){}[\],=<>]|"(?:[^"\\]|\\.)*"|\d+(?:\.\d+)?(?:ms|[smhd])?|[a-zA-Z_:][\w:]*)/y;

export const AGGREGATIONS = ['sum', 'min', 'max', 'count', 'avg'];
export const FUNCTIONS = ['rate', 'increase', 'changes', 'max_over_time', 'histogram_quantile', 'time'];
const LEVELS = [
  ['==', '!=', '>', '<', '>=', '<='],
  ['+', '-'],
  ['*', '/'],
];

export function parsePromql(text: string): Expression {
  const tokens = tokenize(text);
  let at = 0;
  const expression = parseBinary(0);
  if (at < tokens.length) throw new SyntaxError(`${text}: unexpected ${tokens[at]}`);
  return expression;

  function take(wanted?: string): string {
    const token = tokens[at++];
    if (token === undefined || (wanted !== undefined && token !== wanted))
      throw new SyntaxError(`${text}: ${token ?? 'the end'} instead of ${wanted ?? 'more'}`);
    return token;
  }

  function takeIf(token: string): boolean {
    if (tokens[at] !== token) return false;
    at += 1;
    return true;
  }

  function parseBinary(level: number): Expression {
    const operators = LEVELS[level];
    if (operators === undefined) return parseOne();
    let left = parseBinary(level + 1);
    while (operators.includes(tokens[at] ?? '')) {
      const operator = take();
      left = { type: 'binary', operator, left, right: parseBinary(level + 1) };
    }
    return left;
  }

  function parseOne(): Expression {
    if (takeIf('(')) {
      const inner = parseBinary(0);
      take(')');
      return inner;
    }
    const token = take();
    if (/^\d/.test(token)) return { type: 'number', value: Number(token) };
    if (AGGREGATIONS.includes(token)) return parseAggregate(token);
    if (FUNCTIONS.includes(token)) return { type: 'call', name: token, args: parseList(() => parseBinary(0)) };
    if (tokens[at] === '(') throw new SyntaxError(`${text}: the function ${token} is not supported`);
    return parseSelector(token);
  }

  function parseAggregate(name: string): Expression {
    let by = takeIf('by') ? parseList(take) : [];
    const [of] = parseList(() => parseBinary(0));
    if (takeIf('by')) by = parseList(take);
    return { type: 'aggregate', name, by, of: of! };
  }

  function parseSelector(name: string): Selector {
    const matchers: Matcher[] = [];
    if (takeIf('{')) {
      while (!takeIf('}')) {
        const label = take();
        const operator = take() as Matcher['operator'];
        matchers.push({ label, operator, value: JSON.parse(take()) as string });
        takeIf(',');
      }
    }
    if (!takeIf('[')) return { type: 'selector', name, matchers, rangeMs: undefined };
    const rangeMs = toMs(take());
    take(']');
    return { type: 'selector', name, matchers, rangeMs };
  }

  function parseList<Item>(parseItem: () => Item): Item[] {
    const items: Item[] = [];
    take('(');
    while (!takeIf(')')) {
      items.push(parseItem());
      if (tokens[at] !== ')') take(',');
    }
    return items;
  }
}

/** The names of all metrics in an expression, without the suffixes of histograms. */
export function metricsOf(expression: Expression): string[] {
  if (expression.type === 'selector') return [expression.name.replace(/_(bucket|sum|count)$/, '')];
  if (expression.type === 'binary') return [...metricsOf(expression.left), ...metricsOf(expression.right)];
  if (expression.type === 'aggregate') return metricsOf(expression.of);
  return expression.type === 'call' ? expression.args.flatMap(metricsOf) : [];
}

/** The names of all labels in an expression. */
export function labelsOf(expression: Expression): string[] {
  if (expression.type === 'selector') return expression.matchers.map(({ label }) => label);
  if (expression.type === 'binary') return [...labelsOf(expression.left), ...labelsOf(expression.right)];
  if (expression.type === 'aggregate') return [...expression.by, ...labelsOf(expression.of)];
  return expression.type === 'call' ? expression.args.flatMap(labelsOf) : [];
}

/** `5m` as milliseconds. */
export function toMs(text: string): number {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)(ms|[smhd])$/.exec(text) ?? [];
  const factor = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit];
  if (factor === undefined) throw new SyntaxError(`${text} is not a duration`);
  return Number(count) * factor;
}

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  const source = text.trim();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (match === null) throw new SyntaxError(`${text}: unexpected ${source.slice(from, from + 10)}`);
    tokens.push(match[1]!);
  }
  return tokens;
}

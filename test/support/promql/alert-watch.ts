import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { repositoryRoot } from '../root.ts';
import { evaluate } from './evaluate.ts';
import { type Expression, parsePromql, toMs } from './parse.ts';
import type { SeriesStore } from './series-store.ts';

/** A rule of an alert, as docs/scaling/alerts.yaml has it. */
export interface AlertRule {
  readonly name: string;
  readonly text: string;
  readonly expression: Expression;
  readonly forMs: number;
}

interface RuleFile {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string; readonly for?: string }[];
  }[];
}

const load = createRequire(join(repositoryRoot, 'packages', 'server', 'package.json'));
const { parse } = load('yaml') as { parse: (text: string) => unknown };

/** Reads a YAML file of the repository. */
export function readYaml(path: string): unknown {
  return parse(readFileSync(join(repositoryRoot, path), 'utf8'));
}

export function readAlertRules(change: (name: string, expr: string) => string = (_, expr) => expr): AlertRule[] {
  const { groups } = readYaml('docs/scaling/alerts.yaml') as RuleFile;
  return groups.flatMap(({ rules }) =>
    rules.map(({ alert: name, expr, for: pending = '0s' }) => {
      const text = change(name, expr);
      return { name, text, expression: parsePromql(text), forMs: toMs(pending) };
    }),
  );
}

/** Which alerts fire, and which have ever fired. Evaluated after each scrape, like Prometheus. */
export class AlertWatch {
  readonly fired = new Set<string>();
  firing: ReadonlySet<string> = new Set();
  readonly #store: SeriesStore;
  readonly #rules: readonly AlertRule[];
  readonly #scale: number;
  /** Since when each rule has held for each set of labels. */
  readonly #since = new Map<string, number>();

  /** `scale` divides all durations of the rules. */
  constructor(store: SeriesStore, rules: readonly AlertRule[], scale: number) {
    this.#store = store;
    this.#rules = rules;
    this.#scale = scale;
  }

  evaluate(at: number): void {
    const firing = new Set<string>();
    const held = new Set<string>();
    for (const { name, expression, forMs } of this.#rules) {
      for (const { labels } of evaluate(this.#store, expression, at, this.#scale)) {
        const key = `${name} ${JSON.stringify(labels)}`;
        held.add(key);
        const since = this.#since.get(key) ?? at;
        this.#since.set(key, since);
        if (at - since >= forMs / this.#scale) firing.add(name);
      }
    }
    for (const key of this.#since.keys()) if (!held.has(key)) this.#since.delete(key);
    this.firing = firing;
    for (const name of firing) this.fired.add(name);
  }
}

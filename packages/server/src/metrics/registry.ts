/** Numbers for Prometheus, in its text form. Each has a name, and one value for each set of labels. */
export interface Registry {
  /** A number that only grows. */
  counter(name: string, help: string): (labels?: Labels, by?: number) => void;
  /** A number that is read when the text is rendered. */
  gauge(name: string, help: string, read: () => number): void;
  /** How often something took at most so many seconds. */
  histogram(name: string, help: string, bounds: readonly number[]): (seconds: number) => void;
  toText(): string;
}

export type Labels = Readonly<Record<string, string>>;

/**
 * Labels have to come from small sets, such as routes and statuses: each combination is kept for as long as the process
 * lives.
 */
export function createRegistry(): Registry {
  const families: (() => string[])[] = [];

  return {
    counter: (name, help) => {
      const values = new Map<string, number>();
      families.push(() => [...head(name, help, 'counter'), ...toLines(name, values)]);
      return (labels = {}, by = 1) => {
        const key = toKey(labels);
        values.set(key, (values.get(key) ?? 0) + by);
      };
    },

    gauge: (name, help, read) => {
      families.push(() => [...head(name, help, 'gauge'), `${name} ${read()}`]);
    },

    histogram: (name, help, bounds) => {
      const counts = bounds.map(() => 0);
      let count = 0;
      let sum = 0;
      families.push(() => [
        ...head(name, help, 'histogram'),
        ...bounds.map((bound, index) => `${name}_bucket{le="${bound}"} ${counts[index]}`),
        `${name}_bucket{le="+Inf"} ${count}`,
        `${name}_sum ${sum}`,
        `${name}_count ${count}`,
      ]);
      return (seconds) => {
        count += 1;
        sum += seconds;
        // Each bucket holds all smaller ones.
        for (const [index, bound] of bounds.entries()) if (seconds <= bound) counts[index]! += 1;
      };
    },

    toText: () => `${families.flatMap((toText) => toText()).join('\n')}\n`,
  };
}

function head(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function toLines(name: string, values: ReadonlyMap<string, number>): string[] {
  return [...values].map(([labels, value]) => `${name}${labels} ${value}`);
}

function toKey(labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escape(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escape(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

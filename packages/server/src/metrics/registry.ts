/** Numbers for Prometheus, in its text form. Each has a name, and one value for each set of labels. */
export interface Registry<Name extends string = string> {
  /** A number that only grows. The label sets in `known` begin with 0, so that their first increase is visible. */
  counter(name: Name, known?: readonly Labels[]): (labels?: Labels, by?: number) => void;
  /** A counter or gauge that is read when the text is rendered: one number, or one for each set of labels. */
  read(name: Name, read: () => number | readonly Sample[]): void;
  /** A histogram of durations: for each bound, how many took at most that many seconds. */
  histogram(name: Name, bounds: readonly number[]): (seconds: number) => void;
  toText(): string;
}

export type Labels = Readonly<Record<string, string>>;

/** One value of a metric with labels. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** Type and help text of each metric. */
export type Catalog<Name extends string> = Readonly<Record<Name, { readonly type: string; readonly help: string }>>;

/**
 * Labels have to come from small sets, such as routes and statuses: each combination is kept for as long as the process
 * lives.
 */
export function createRegistry<Name extends string>(catalog: Catalog<Name>): Registry<Name> {
  const families: (() => string[])[] = [];

  return {
    counter: (name, known = []) => {
      const values = new Map<string, number>(known.map((labels) => [toKey(labels), 0]));
      families.push(() => [...head(name), ...[...values].map(([labels, value]) => `${name}${labels} ${value}`)]);
      return (labels = {}, by = 1) => {
        const key = toKey(labels);
        values.set(key, (values.get(key) ?? 0) + by);
      };
    },

    read: (name, read) => {
      families.push(() => {
        const result = read();
        const samples = typeof result === 'number' ? [{ labels: {}, value: result }] : result;
        return [...head(name), ...samples.map(({ labels, value }) => `${name}${toKey(labels)} ${value}`)];
      });
    },

    histogram: (name, bounds) => {
      const counts = bounds.map(() => 0);
      let count = 0;
      let sum = 0;
      families.push(() => [
        ...head(name),
        ...bounds.map((bound, index) => `${name}_bucket{le="${bound}"} ${counts[index]}`),
        `${name}_bucket{le="+Inf"} ${count}`,
        `${name}_sum ${sum}`,
        `${name}_count ${count}`,
      ]);
      return (seconds) => {
        count += 1;
        sum += seconds;
        // Buckets are cumulative.
        for (const [index, bound] of bounds.entries()) if (seconds <= bound) counts[index]! += 1;
      };
    },

    toText: () => `${families.flatMap((toText) => toText()).join('\n')}\n`,
  };

  function head(name: Name): string[] {
    const { type, help } = catalog[name];
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  }
}

function toKey(labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escape(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escape(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

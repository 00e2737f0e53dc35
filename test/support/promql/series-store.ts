export type Labels = Readonly<Record<string, string>>;

/** One metric with one set of labels. A value is undefined at the first scrape that does not have the series any more. */
export interface Series {
  readonly labels: Labels;
  readonly points: [time: number, value: number | undefined][];
}

/** What a Prometheus has scraped, in memory. Labels are sorted, so that equal sets are equal texts. */
export class SeriesStore {
  readonly #byName = new Map<string, Map<string, Series>>();
  /** How long the newest value of a series counts as its current value. */
  readonly #lookbackMs: number;

  constructor(lookbackMs = 300_000) {
    this.#lookbackMs = lookbackMs;
  }

  /** A scrape of a target: its text, or undefined if it did not answer. `up` is added, as Prometheus does. */
  scrape(target: Labels, at: number, text: string | undefined): void {
    const found = new Set<Series>();
    const add = (labels: Labels, value: number) => {
      const series = this.#find({ ...labels, ...target });
      series.points.push([at, value]);
      found.add(series);
    };
    add({ __name__: 'up' }, text === undefined ? 0 : 1);
    for (const { labels, value } of parseText(text ?? '')) add(labels, value);
    for (const byLabels of this.#byName.values()) {
      for (const series of byLabels.values()) {
        if (found.has(series) || !hasLabels(series.labels, target)) continue;
        if (series.points.at(-1)?.[1] !== undefined) series.points.push([at, undefined]);
      }
    }
  }

  ofName(name: string): readonly Series[] {
    return [...(this.#byName.get(name)?.values() ?? [])];
  }

  /** The newest value at a time, unless the series had ended by then. */
  valueAt({ points }: Series, at: number): number | undefined {
    const newest = points.findLast(([time]) => time <= at);
    return newest === undefined || at - newest[0] > this.#lookbackMs ? undefined : newest[1];
  }

  #find(labels: Labels): Series {
    const sorted = Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
    const name = sorted['__name__'] ?? '';
    const byLabels = this.#byName.get(name) ?? new Map<string, Series>();
    this.#byName.set(name, byLabels);
    const key = JSON.stringify(sorted);
    const series = byLabels.get(key) ?? { labels: sorted, points: [] };
    byLabels.set(key, series);
    return series;
  }
}

/** The text format of Prometheus. */
export function parseText(text: string): { readonly labels: Labels; readonly value: number }[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === '') throw new SyntaxError(`not a metric: ${line}`);
    const pairs = [...labels.matchAll(/(\w+)=("(?:[^"\\]|\\.)*")/g)];
    const own = Object.fromEntries(pairs.map(([, label = '', text_ = '""']) => [label, JSON.parse(text_) as string]));
    return { labels: { ...own, __name__: name }, value: Number(value) };
  });
}

function hasLabels(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

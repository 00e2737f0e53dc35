import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dashboardForm } from '../../packages/server/src/metrics/dashboard-form.suite.ts';
import { type MetricDescription, metricCatalog } from '../../packages/server/src/metrics/catalog.ts';
import { readAlertRules, readYaml } from '../support/promql/alert-watch.ts';
import { type Expression, labelsOf, metricsOf, parsePromql } from '../support/promql/parse.ts';
import { repositoryRoot } from '../support/root.ts';

const read = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');
/** Those of the server, and what Prometheus adds. */
const known = new Set([...Object.keys(metricCatalog), 'up']);

it('[P123] the reference of metrics is what the catalog says (after a change: npx vitest run test/docs/metrics.test.ts --update)', async () => {
  await expect(toReference()).toMatchFileSnapshot(join(repositoryRoot, 'docs', 'reference', 'metrics.md'));
});

it('[P124] every metric and label that the dashboard for Grafana and the alert rules name exists', () => {
  const dashboard = JSON.parse(read('docs/scaling/grafana-dashboard.json')) as Dashboard;
  const panels = dashboard.panels.flatMap(({ targets = [], title }) => targets.map(({ expr }) => ({ title, expr })));
  const rules = readAlertRules().map(({ name: title, text: expr }) => ({ title, expr }));
  const named = new Set<string>();
  for (const { title, expr } of [...panels, ...rules]) {
    const expression = parsePromql(expr);
    const metrics = metricsOf(expression);
    for (const metric of metrics) named.add(metric);
    expect(
      metrics.filter((metric) => !known.has(metric)),
      title,
    ).toEqual([]);
    const labels = new Set(['instance', 'job', 'le', ...metrics.flatMap(labelsOfMetric)]);
    expect(
      labelsOf(expression).filter((label) => !labels.has(label)),
      title,
    ).toEqual([]);
  }
  // All of them are on the dashboard.
  expect(Object.keys(metricCatalog).filter((name) => !named.has(name))).toEqual([]);
  const ids = dashboard.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

it('[P142] the dashboard for Grafana has the form that Grafana 10 and newer import: fields, positions, variables, queries and legends', () => {
  const dashboard = dashboardForm.parse(JSON.parse(read('docs/scaling/grafana-dashboard.json')));
  const variables = new Set(dashboard.templating.list.map(({ name }) => name));
  const taken = new Set<string>();
  for (const { title, gridPos, targets = [], ...panel } of dashboard.panels) {
    const used = [...JSON.stringify([panel, targets]).matchAll(/\$\{?(\w+)/g)].map(([, name]) => name!);
    expect(
      used.filter((name) => !variables.has(name)),
      title,
    ).toEqual([]);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(x < 24 && !taken.has(`${x} ${y}`), `${title} at ${x}, ${y}`).toBe(true);
        taken.add(`${x} ${y}`);
      }
    }
    expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length);
    for (const { expr, legendFormat } of targets) {
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
      const there = resultLabels(parsePromql(expr));
      expect(
        shown.filter((label) => !there.includes(label)),
        `${title}: ${legendFormat}`,
      ).toEqual([]);
    }
  }
});

it('[P125] the runbook has a section for each alert, and for nothing else, with what it means, how to check and what to do', () => {
  const sections = read('docs/runbook.md').split(/^## /m).slice(1);
  const alerts = sections.filter((section) => section.startsWith('Fleetloom'));
  expect(alerts.map((section) => section.slice(0, section.indexOf('\n')))).toEqual(
    readAlertRules().map(({ name }) => name),
  );
  for (const section of alerts) expect(section).toMatch(/\*\*Meaning:\*\*.*\*\*Check:\*\*.*\*\*Do:\*\*/s);
  const file = readYaml('docs/scaling/alerts.yaml') as { groups: { rules: { labels: { severity: string } }[] }[] };
  const severities = file.groups.flatMap(({ rules }) => rules.map(({ labels }) => labels.severity));
  expect(new Set(severities)).toEqual(new Set(['page', 'ticket']));
});

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets?: readonly { expr: string }[];
  }[];
}

/** The labels of what an expression returns. */
function resultLabels(expression: Expression): readonly string[] {
  if (expression.type === 'aggregate') return expression.by;
  if (expression.type === 'binary') return [...resultLabels(expression.left), ...resultLabels(expression.right)];
  if (expression.type === 'call') return expression.args.flatMap(resultLabels).filter((label) => label !== 'le');
  return expression.type === 'selector' ? ['instance', 'job', ...metricsOf(expression).flatMap(labelsOfMetric)] : [];
}

function labelsOfMetric(metric: string): readonly string[] {
  const catalog: Readonly<Record<string, MetricDescription | undefined>> = metricCatalog;
  return catalog[metric]?.labels ?? [];
}

function toReference(): string {
  const only = { database: 'with `--database`', endpoint: 'with a model endpoint', webhooks: 'with `--webhook`' };
  const rows = Object.entries(metricCatalog).map(([name, metric]: [string, MetricDescription]) => {
    const labels = (metric.labels ?? []).map((label) => `\`${label}\``).join(', ');
    const when = metric.only === undefined ? '' : ` Only ${only[metric.only]}.`;
    return `| \`${name}\` | ${metric.type} | ${labels} | ${metric.help}${when} |`;
  });
  return [
    '# Metrics',
    '',
    'The metrics of `/metrics`, in the Prometheus text format. [Operations](../operations.md#metrics-and-alerts) explains how to scrape them.',
    'Counters count from the start of the process. Each node reports its own numbers.',
    '',
    'Generated from `packages/server/src/metrics/catalog.ts` by `npx vitest run test/docs/metrics.test.ts --update`. Do not edit.',
    '',
    '| Metric | Type | Labels | Meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

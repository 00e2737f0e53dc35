import { z } from 'zod';

const SOURCE = z.strictObject({ type: z.literal('prometheus'), uid: z.literal('${datasource}') });
const POSITION = z.strictObject({
  h: z.int().positive(),
  w: z.int().positive().max(24),
  x: z.int().nonnegative().max(23),
  y: z.int().nonnegative(),
});
/** The part of Grafana's dashboard schema (kinds/dashboard in its repository) that our dashboard uses. */
export const dashboardForm = z.strictObject({
  title: z.string(),
  uid: z.string().max(40),
  schemaVersion: z.literal(39),
  version: z.int().positive(),
  editable: z.boolean(),
  refresh: z.string().regex(/^\d+[smh]$/),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  tags: z.array(z.string()),
  annotations: z.strictObject({ list: z.array(z.never()) }),
  templating: z.strictObject({
    list: z.array(
      z.discriminatedUnion('type', [
        z.strictObject({
          type: z.literal('datasource'),
          name: z.string(),
          label: z.string(),
          query: z.literal('prometheus'),
        }),
        z.strictObject({
          type: z.literal('query'),
          name: z.string(),
          label: z.string(),
          datasource: SOURCE,
          query: z.string(),
          includeAll: z.boolean(),
          multi: z.boolean(),
          allValue: z.string(),
          current: z.strictObject({ text: z.string(), value: z.string() }),
          refresh: z.union([z.literal(0), z.literal(1), z.literal(2)]),
        }),
      ]),
    ),
  }),
  panels: z.array(
    z.discriminatedUnion('type', [
      z.strictObject({
        type: z.literal('row'),
        id: z.int().positive(),
        title: z.string(),
        collapsed: z.literal(false),
        gridPos: POSITION,
        panels: z.array(z.never()),
        targets: z.undefined().optional(),
      }),
      z.strictObject({
        type: z.literal('timeseries'),
        id: z.int().positive(),
        title: z.string(),
        datasource: SOURCE,
        gridPos: POSITION,
        fieldConfig: z.strictObject({
          defaults: z.strictObject({
            unit: z.enum(['short', 's', 'ops', 'reqps', 'bytes', 'percentunit']),
            min: z.number().optional(),
            max: z.number().optional(),
          }),
          overrides: z.array(z.never()),
        }),
        targets: z
          .array(z.strictObject({ refId: z.string().regex(/^[A-Z]$/), expr: z.string(), legendFormat: z.string() }))
          .nonempty(),
      }),
    ]),
  ),
});

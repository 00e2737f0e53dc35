import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { gaugeJson, JsonGauge } from './json-gauge.ts';

it('[U162] JSON is measured as it would be parsed: its depth exactly, its values at least, however it is cut', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 7 }), (value, size) => {
      const text = JSON.stringify(value);
      const bytes = Buffer.from(text);
      const gauge = new JsonGauge();
      for (let at = 0; at < bytes.length; at += size) gauge.push(bytes, at, Math.min(bytes.length, at + size));
      expect(gauge.depth).toBe(depthOf(value));
      expect(gauge.values).toBeGreaterThanOrEqual(countOf(value));
      expect(gauge.values).toBeLessThanOrEqual(countOf(value) + text.split(/[[{]/).length);
      expect(gaugeJson(text)).toMatchObject({ depth: gauge.depth, values: gauge.values, shallow: gauge.shallow });
    }),
  );
});

it('[U162] the content of strings is not counted, and a quote on another line does not hide what follows', () => {
  expect(gaugeJson(String.raw`{"a":"[[[[,,,,\"[[[\\","b":[1,2]}`)).toMatchObject({ depth: 2, shallow: 2, names: 2 });
  const gauge = new JsonGauge();
  gauge.push(Buffer.from(', "'));
  gauge.endLine();
  gauge.push(Buffer.from('data: [[['));
  expect(gauge.depth).toBe(3);
  gauge.reset();
  expect([gauge.depth, gauge.values, gauge.shallow, gauge.names]).toEqual([0, 1, 0, 0]);
});

it('[U162] fields of the value and of its direct parts are counted separately from deeper ones', () => {
  expect(gaugeJson('{"a":1,"b":{"c":1,"d":{"e":1,"f":[1,2,3]}},"g":1}').shallow).toBe(3);
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, part) => sum + countOf(part), 1);
}

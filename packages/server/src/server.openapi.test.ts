import { expect, it } from 'vitest';
import { withServer } from './server.suite.ts';

it('[H22] the document of the whole server can be made, and every reference in it leads somewhere', async () => {
  await withServer(async ({ url }) => {
    const response = await fetch(`${url}/openapi.json`);
    const text = await response.text();
    expect([response.status, text.slice(0, 200)]).toEqual([200, expect.stringContaining('"openapi":"3.1.0"')]);
    const { paths, components } = JSON.parse(text) as { paths: object; components: { schemas: object } };
    for (const path of ['/v1/agents', '/v1/sessions/{session_id}/events', '/v1/files', '/v1/orchestrate']) {
      expect(Object.keys(paths)).toContain(path);
    }
    const names = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name!);
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !(name in components.schemas))).toEqual([]);
  });
}, 240_000);

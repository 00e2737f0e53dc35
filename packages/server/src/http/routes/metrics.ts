import { Readable } from 'node:stream';
import { ContentAnswer } from '../response/answer.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';

/** `/metrics` in the Prometheus text format, also while the database is unreachable. It needs a key like every other route: the numbers reveal the use of each workspace. */
export function createMetricsRoutes({ toText }: { readonly toText: () => string }): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'metrics',
      summary: 'Read metrics of the server in the Prometheus text format',
      method: 'get',
      path: '/metrics',
      accepts: ['api'],
      isOffline: true,
      gives: 'content',
      handle: async () =>
        new ContentAnswer({ 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }, Readable.from([toText()])),
    }),
  ];
}

import { Readable } from 'node:stream';
import { ContentAnswer } from '../answer.ts';
import { type AnyRoute, defineRoute } from '../route.ts';

/** `/metrics`, as Prometheus reads it. It asks for a key like everything else: numbers tell who does how much. */
export function createMetricsRoutes({ toText }: { readonly toText: () => string }): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'metrics',
      summary: 'Read how the server is doing, in the text form of Prometheus',
      method: 'get',
      path: '/metrics',
      accepts: ['api'],
      gives: 'content',
      handle: async () =>
        new ContentAnswer({ 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }, Readable.from([toText()])),
    }),
  ];
}

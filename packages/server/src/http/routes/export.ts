import { Readable } from 'node:stream';
import type { Store } from '../../store/store.ts';
import { exportSession } from '../../views/export/export-session.ts';
import { ContentAnswer } from '../answer.ts';
import { type AnyRoute, defineRoute } from '../route.ts';
import { readSession } from './read-session.ts';

/** `/v1/sessions/{session_id}/export`: everything that happened in a session, sub-agents included, to keep elsewhere. */
export function createExportRoutes({ store }: { readonly store: Store }): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'sessions.export',
      summary: 'Export a whole session, every thread of it, as one JSON object per line',
      method: 'get',
      path: '/v1/sessions/{session_id}/export',
      accepts: ['api'],
      gives: 'content',
      handle: async ({ credential, params }) => {
        const { id: sessionId } = await readSession(store, credential, params.session_id);
        // It is read from the store as fast as the client takes it.
        const lines = Readable.from(exportSession({ store, sessionId }));
        return new ContentAnswer({ 'content-type': 'application/x-ndjson' }, lines);
      },
    }),
  ];
}

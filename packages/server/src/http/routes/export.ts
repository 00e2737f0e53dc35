import { Readable } from 'node:stream';
import type { Store } from '../../store/store.ts';
import { exportSession } from '../../views/export/export-session.ts';
import { ContentAnswer } from '../response/answer.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { readSession } from './read-session.ts';

/** `/v1/sessions/{session_id}/export`: the whole log of a session with all threads, to archive it elsewhere. */
export function createExportRoutes({ store }: { readonly store: Store }): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'sessions.export',
      summary: 'Export a whole session, every thread of it, as one JSON object per line',
      method: 'get',
      path: '/v1/sessions/{session_id}/export',
      accepts: ['api'],
      gives: 'content',
      handle: async ({ credential, params, audit, incoming }) => {
        const { id: sessionId } = await readSession(store, credential, params.session_id);
        // The entry is stored before the first byte is sent, so that no content is sent without an entry.
        if (incoming.method !== 'HEAD') await store.audit.append([audit('session.exported', sessionId)]);
        // The store is read as fast as the client reads.
        const lines = Readable.from(exportSession({ store, sessionId }));
        return new ContentAnswer({ 'content-type': 'application/x-ndjson' }, lines);
      },
    }),
  ];
}

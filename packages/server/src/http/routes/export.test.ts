import { describe, expect, it } from 'vitest';
import { storeLimits } from '../../store/limits.ts';
import { encodeFrame, type NewFrame } from '../../store/frame.ts';
import { pruneDeltas } from '../../log/prune-deltas.ts';
import type { Store } from '../../store/store.ts';
import { commitOne } from '../../store/write.ts';
import { exportSession } from '../../views/export/export-session.ts';
import { knownSecrets, type TestHttpServer, withHttpServer } from '../server/http-server.suite.ts';
import { createExportRoutes } from './export.ts';

const START = Date.UTC(2026, 0, 1);
const PATH = '/v1/sessions/sesn_1/export';

function frame(type: string, text: string, streamId: number | null = 0): NewFrame {
  const turn = streamId === null ? null : { streamId, depth: 1, run: 'req_1' };
  return { threadId: streamId === null ? null : `sthr_${streamId}`, turn, time: START, type, payload: { text } };
}

async function write(store: Store, frames: readonly NewFrame[]): Promise<void> {
  const session = {
    workspaceId: 'wrkspc_1',
    id: 'sesn_1',
    agentId: 'agent_1',
    agentVersion: 1,
    environmentId: 'env_1',
  };
  await commitOne(store, {
    type: 'create',
    session: { ...session, status: 'idle', createdAt: START, data: {} },
    frames: frames.map((each) => encodeFrame(each)),
    changes: [],
  });
}

async function withExport(run: (test: TestHttpServer) => Promise<void>): Promise<void> {
  const access = knownSecrets({
    ours: { kind: 'api', id: 'key_1', workspaceId: 'wrkspc_1' },
    theirs: { kind: 'api', id: 'key_2', workspaceId: 'wrkspc_2' },
  });
  await withHttpServer((store) => ({ access, routes: createExportRoutes({ store }) }), run);
}

const ask = (test: TestHttpServer, key = 'ours') => test.send({ path: PATH, headers: { 'x-api-key': key } });

describe('exporting a session', () => {
  it('[Y18] every frame is one line in the order of the log, between a first and a last line that count them', async () => {
    await withExport(async (test) => {
      await write(test.store, [frame('session.created', 'c', null), frame('agent.message', 'ä\u2028\n', 2)]);
      const { status, headers, text } = await ask(test);
      expect([status, headers['content-type']]).toEqual([200, 'application/x-ndjson']);
      expect(text).toBe(
        [
          '{"type":"export.begin","version":1,"session_id":"sesn_1","last_seq":2}',
          `{"seq":1,"type":"session.created","time":${START},"thread_id":null,"turn":null,"payload":{"text":"c"}}`,
          `{"seq":2,"type":"agent.message","time":${START},"thread_id":"sthr_2","turn":{"run":"req_1","stream_id":2,"depth":1},"payload":{"text":"ä\u2028\\n"}}`,
          '{"type":"export.end","frames":2,"last_seq":2}',
          '',
        ].join('\n'),
      );
      expect((await ask(test)).text).toBe(text);
    });
  });

  it('[Y18] a log of many batches is exported whole', async () => {
    await withExport(async (test) => {
      const count = 2 * storeLimits.logBatchEntriesMax + 3;
      await write(
        test.store,
        Array.from({ length: count }, (_, index) => frame('delta', `${index} ${'x'.repeat(100)}`)),
      );
      const lines = (await ask(test)).text.trimEnd().split('\n');
      expect(lines).toHaveLength(count + 2);
      expect(lines.slice(1, -1).every((line, index) => line.startsWith(`{"seq":${index + 1},`))).toBe(true);
    });
  });

  it('[Y18] pruned frames are reported by their numbers', async () => {
    await withExport(async (test) => {
      await write(test.store, [frame('delta', 'a'), frame('delta', 'b'), frame('block', 'ab'), frame('end', '')]);
      await pruneDeltas({
        store: test.store,
        sessionId: 'sesn_1',
        isDelta: ({ type }) => type === 'delta',
        isTurnEnd: ({ type }) => type === 'end',
        endedBefore: START + 1,
      });
      const lines = (await ask(test)).text.trimEnd().split('\n');
      expect(lines[1]).toBe('{"seq":1,"type":"pruned","last_seq":2}');
      expect(lines.at(-1)).toBe('{"type":"export.end","frames":2,"last_seq":4}');
      expect(lines).toHaveLength(5);
    });
  });

  it('[Y18] the session of another workspace does not exist', async () => {
    await withExport(async (test) => {
      await write(test.store, [frame('a', '')]);
      expect((await ask(test, 'theirs')).status).toBe(404);
      expect((await ask(test, 'unknown')).status).toBe(401);
    });
  });

  it('[Y18] an export whose session is deleted in the meantime has no last line', async () => {
    await withExport(async ({ store }) => {
      await write(store, [frame('a', '1'), frame('b', '2')]);
      const gone = { heads: store.heads.bind(store), read: async () => [] };
      const lines: string[] = [];
      const reading = (async () => {
        for await (const line of exportSession({ store: gone, sessionId: 'sesn_1' })) lines.push(line);
      })();
      await expect(reading).rejects.toThrow('ends at 0, and was to go to 2');
      expect(lines).toEqual(['{"type":"export.begin","version":1,"session_id":"sesn_1","last_seq":2}\n']);
    });
  });
});

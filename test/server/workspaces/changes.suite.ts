import type {
  ChangesApplied,
  ChangesDiscarded,
  ChangesMerged,
  ChangesRestored,
  WorkspaceChanges,
  WorkspaceDiff,
  WorkspaceDiffs,
  WorkspaceSteps,
  WorkspaceTree,
} from '@fleetloom/protocol/fleet';
import type { TestServer } from '../server.suite.ts';

/** An error response. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Calls the routes about the changes of one session. */
export function changesOf({ url, key }: Pick<TestServer, 'url' | 'key'>, sessionId: string) {
  const send = (path: string, init: RequestInit = {}) =>
    fetch(`${url}/v1/sessions/${sessionId}${path}`, {
      ...init,
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
    });
  const read = async (response: Response) => {
    const body = (await response.json()) as Record<string, unknown>;
    if (response.ok) return body;
    const { message, details } = body['error'] as { message: string; details: Record<string, unknown> };
    const { error_code: code, ...rest } = details;
    throw { status: response.status, code, message, details: rest } as Refusal;
  };
  const get = async <Body>(path: string, query: Record<string, string> = {}) =>
    (await read(await send(`${path}?${new URLSearchParams(query)}`))) as unknown as Body;
  const post = async <Body>(path: string, body: object) =>
    (await read(await send(path, { method: 'POST', body: JSON.stringify(body) }))) as unknown as Body;
  return {
    list: (query?: Record<string, string>) => get<WorkspaceChanges>('/changes', query),
    steps: (query?: Record<string, string>) => get<WorkspaceSteps>('/changes/steps', query),
    diff: (query: Record<string, string>) => get<WorkspaceDiff>('/changes/diff', query),
    diffs: (query?: Record<string, string>) => get<WorkspaceDiffs>('/changes/diffs', query),
    tree: (query?: Record<string, string>) => get<WorkspaceTree>('/tree', query),
    content: async (query: Record<string, string>) => {
      const response = await send(`/files/content?${new URLSearchParams(query)}`);
      if (!response.ok) await read(response);
      return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
    },
    apply: (body: object = {}) => post<ChangesApplied>('/changes/apply', { onto: 'working_tree', ...body }),
    discard: (body: object = {}) => post<ChangesDiscarded>('/changes/discard', body),
    merge: (body: object) => post<ChangesMerged>('/changes/merge', body),
    restore: (body: object) => post<ChangesRestored>('/changes/restore', body),
  };
}

/** Files as `path status added removed`. */
export function toLines(files: WorkspaceChanges['files'] | ChangesApplied['files']): readonly string[] {
  return files.map(({ path, status, added, removed }) => `${path} ${status} ${added} ${removed}`);
}

/** The error of a request that must fail. */
export async function refusalOf(request: Promise<unknown>): Promise<Refusal> {
  return await request.then(
    (body) => {
      throw new Error(`it was not refused: ${JSON.stringify(body)}`);
    },
    (error: unknown) => {
      if (error instanceof Error) throw error;
      return error as Refusal;
    },
  );
}

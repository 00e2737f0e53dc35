import { createHmac, randomBytes } from 'node:crypto';
import { isSameDigest } from '../../keys/secret.ts';
import { requestError } from '../../base/request-error.ts';

/** The scope of a cursor: the workspace, the list, its filters and its order. */
export interface PageScope {
  readonly workspaceId: string;
  readonly route: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
}

/**
 * Signs the cursors of lists. A cursor that is damaged, invented, or from another list, order or filter would silently return
 * another part of the list, so it is rejected.
 */
export interface PageSeals {
  /** The cursor inside a page that a client has sent. Throws if the signature does not match. */
  open(scope: PageScope, page: string): string;
  /** Returns the response of a list with its cursors signed. */
  seal<Answer extends object>(scope: PageScope, answer: Answer): Answer;
}

/** Creates page seals. With a stored key, cursors are valid across restarts and on every node; without one, in this process. */
export function createPageSeals(signingKey: Uint8Array = randomBytes(32)): PageSeals {
  return {
    open: (scope, page) => {
      const at = page.lastIndexOf('.');
      const cursor = page.slice(0, Math.max(0, at));
      const given = page.slice(at + 1);
      const expected = sign(toText(scope), cursor);
      // Compared as text: several base64 texts decode to the same bytes.
      if (at > 0 && isSameDigest(Buffer.from(given), Buffer.from(expected))) return cursor;
      const advice = 'use next_page of an earlier response with the same filters and order, or leave it out';
      throw requestError('invalid_request', `page: ${page.slice(0, 100)} is not a page of this list`, { advice });
    },
    seal: (scope, answer) => {
      // The cast: only the cursors are read.
      const { next_page: next, prev_page: previous } = answer as Partial<Record<'next_page' | 'prev_page', unknown>>;
      if (typeof next !== 'string' && typeof previous !== 'string') return answer;
      const text = toText(scope);
      return {
        ...answer,
        ...(typeof next === 'string' ? { next_page: `${next}.${sign(text, next)}` } : {}),
        ...(typeof previous === 'string' ? { prev_page: `${previous}.${sign(text, previous)}` } : {}),
      };
    },
  };

  /** The purpose keeps these signatures apart from the tokens that the key also signs. */
  function sign(scope: string, cursor: string): string {
    const mac = createHmac('sha256', signingKey).update(`page\n${scope}\n${cursor}`).digest();
    return mac.subarray(0, SEAL_BYTES).toString('base64url');
  }
}

const SEAL_BYTES = 16;

/** The scope as text, without `page` and `limit`, which differ from page to page. */
function toText({ workspaceId, route, params, query }: PageScope): string {
  const { page: _, limit: __, ...rest } = query;
  return JSON.stringify([workspaceId, route, toSorted(params), toSorted(rest)]);
}

function toSorted(fields: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] {
  return Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1));
}

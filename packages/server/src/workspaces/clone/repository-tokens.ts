import { baseLimits } from '../../base/limits.ts';
import type { JsonObject } from '../../base/json/json.ts';
import type { DocumentRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { isStoreError } from '../../store/store-errors.ts';

/** Encrypts and decrypts tokens. `names` identify the session and resource of a token. */
export interface TokenSealer {
  seal(text: string, names: readonly string[]): string;
  open(sealed: string, names: readonly string[]): string;
}

/** The tokens of the repositories of sessions. They are stored only here, encrypted. */
export interface RepositoryTokens {
  read(sessionId: string, resourceId: string): Promise<string | undefined>;
  /** Adds or replaces tokens, by the id of the resource. */
  put(sessionId: string, tokens: Readonly<Record<string, string>>): Promise<void>;
  /** Erases all tokens of a session. */
  remove(sessionId: string): Promise<void>;
}

/** Stores tokens in one document for each session. */
export function createRepositoryTokens(
  { documents }: Pick<Store, 'documents'>,
  openSealer: () => Promise<TokenSealer>,
): RepositoryTokens {
  return {
    read: async (sessionId, resourceId) => {
      const sealed = (await documents.get(REPOSITORY_TOKENS, sessionId))?.data[resourceId];
      return typeof sealed === 'string' ? (await openSealer()).open(sealed, [sessionId, resourceId]) : undefined;
    },
    put: async (sessionId, tokens) => {
      const sealer = await openSealer();
      const added: JsonObject = Object.fromEntries(
        Object.entries(tokens).map(([id, token]) => [id, sealer.seal(token, [sessionId, id])]),
      );
      for (let attempt = 1; ; attempt++) {
        const before = await documents.get(REPOSITORY_TOKENS, sessionId);
        const data = { ...before?.data, ...added };
        try {
          await documents.put({ kind: REPOSITORY_TOKENS, id: sessionId, data, ifRevision: before?.revision ?? 0 });
          return;
        } catch (error) {
          if (!isStoreError(error, 'version_conflict') || attempt >= baseLimits.updateAttemptsMax) throw error;
        }
      }
    },
    remove: (sessionId) => documents.delete(REPOSITORY_TOKENS, sessionId),
  };
}

/** The kind of the token documents. Their ids are session ids. */
export const REPOSITORY_TOKENS = 'repository_tokens';

/** The sealed fields of a token document, with the names that they were sealed with. */
export function listSealedTokens({ id, data }: DocumentRecord): readonly { field: string; names: readonly string[] }[] {
  return Object.keys(data).map((resourceId) => ({ field: resourceId, names: [id, resourceId] }));
}

import type { RepositoryError } from '@fleetloom/protocol/managed-agents';

/** A repository that could not be cloned, as a `session.error` shows it. */
export class CloneFailure extends Error {
  override readonly name = 'CloneFailure';
  readonly type: RepositoryError['type'];

  constructor(type: RepositoryError['type'], message: string, options?: { cause: unknown }) {
    super(message, options);
    this.type = type;
  }
}

/** What the status of a git host means for a clone. */
export function toFailureType(status: number | undefined): RepositoryError['type'] {
  if (status === 401) return 'repository_authentication_error';
  if (status === 403) return 'repository_forbidden_error';
  if (status === 404) return 'repository_not_found_error';
  return 'repository_clone_error';
}

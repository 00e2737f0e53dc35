/** The git service of a request: fetch or push. */
export type GitService = 'git-upload-pack' | 'git-receive-pack';

/** A request of git's smart HTTP protocol to the git proxy. */
export interface GitRequest {
  /** The id of the repository's resource. */
  readonly resourceId: string;
  readonly service: GitService;
  /** `refs`: the list of refs. `pack`: the transfer of objects in either direction. */
  readonly type: 'refs' | 'pack';
}

/** The path of a repository at the git proxy, for `url.<base>.insteadOf`. git also rewrites longer URLs; `~` marks the end of the id. */
export function toGitPath(resourceId: string): string {
  return `/git/${resourceId}~`;
}

/**
 * Reads git's first request to a repository whose URL only begins with the URL of a resource, such as `…/app-tools` for `…/app`. Returns the
 * resource, and the rest of the URL. Undefined for every other request.
 */
export function readLongerUrl(method: string | undefined, url: string | undefined) {
  const [, resourceId, rest] =
    /^\/git\/(sesrsc_\w+)~([\w.+-]+(?:\/[\w.~+-]+)*\/info\/refs\?service=git-\w+-pack)$/.exec(url ?? '') ?? [];
  return method === 'GET' && resourceId !== undefined && rest !== undefined ? { resourceId, rest } : undefined;
}

/** Parses one of the four requests of `git fetch` and `git push`. Undefined for any other request. */
export function readGitRequest(method: string | undefined, url: string | undefined): GitRequest | undefined {
  const [, resourceId, rest] = /^\/git\/(sesrsc_\w+)~(?:\.git)?\/([^#]*)$/.exec(url ?? '') ?? [];
  const found = ENDPOINTS.find((endpoint) => endpoint.method === method && endpoint.rest === rest);
  if (resourceId === undefined || found === undefined) return undefined;
  return { resourceId, service: found.service, type: found.type };
}

/** The path below the URL of a repository, and the media type of the response. */
export function toEndpoint({ service, type }: Pick<GitRequest, 'service' | 'type'>) {
  return type === 'refs'
    ? { path: `/info/refs?service=${service}`, answers: `application/x-${service}-advertisement` }
    : { path: `/${service}`, answers: `application/x-${service}-result` };
}

const ENDPOINTS = (['git-upload-pack', 'git-receive-pack'] as const).flatMap((service) => [
  { method: 'GET', rest: `info/refs?service=${service}`, service, type: 'refs' as const },
  { method: 'POST', rest: service, service, type: 'pack' as const },
]);

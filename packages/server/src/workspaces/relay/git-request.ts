/** What git asks a server for. */
export type GitService = 'git-upload-pack' | 'git-receive-pack';

/** A request of git's smart HTTP protocol to the git proxy. */
export interface GitRequest {
  /** The resource that is the repository. */
  readonly resourceId: string;
  readonly service: GitService;
  /** `refs`: which refs there are. `pack`: objects, in one direction or the other. */
  readonly type: 'refs' | 'pack';
}

/** The path of a repository at the git proxy, for `url.<base>.insteadOf`. git also rewrites longer URLs: the mark ends the id. */
export function toGitPath(resourceId: string): string {
  return `/git/${resourceId}~`;
}

/**
 * What git asks for first of a repository whose URL only begins like that of a resource, `…/app-tools` beside `…/app`: the
 * resource, and the rest of the URL. Undefined for every other request.
 */
export function readLongerUrl(method: string | undefined, url: string | undefined) {
  const [, resourceId, rest] =
    /^\/git\/(sesrsc_\w+)~([\w.+-]+(?:\/[\w.~+-]+)*\/info\/refs\?service=git-\w+-pack)$/.exec(url ?? '') ?? [];
  return method === 'GET' && resourceId !== undefined && rest !== undefined ? { resourceId, rest } : undefined;
}

/** Undefined for every request that is not one of the four which `git fetch` and `git push` make. */
export function readGitRequest(method: string | undefined, url: string | undefined): GitRequest | undefined {
  const [, resourceId, rest] = /^\/git\/(sesrsc_\w+)~(?:\.git)?\/([^#]*)$/.exec(url ?? '') ?? [];
  const found = ENDPOINTS.find((endpoint) => endpoint.method === method && endpoint.rest === rest);
  if (resourceId === undefined || found === undefined) return undefined;
  return { resourceId, service: found.service, type: found.type };
}

/** The path below a repository, and the media type of the answer. */
export function toEndpoint({ service, type }: Pick<GitRequest, 'service' | 'type'>) {
  return type === 'refs'
    ? { path: `/info/refs?service=${service}`, answers: `application/x-${service}-advertisement` }
    : { path: `/${service}`, answers: `application/x-${service}-result` };
}

const ENDPOINTS = (['git-upload-pack', 'git-receive-pack'] as const).flatMap((service) => [
  { method: 'GET', rest: `info/refs?service=${service}`, service, type: 'refs' as const },
  { method: 'POST', rest: service, service, type: 'pack' as const },
]);

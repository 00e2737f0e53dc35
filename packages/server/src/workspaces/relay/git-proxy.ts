import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { ignoringFailure } from '../../base/in-background.ts';
import { type GitRequest, readGitRequest, readLongerUrl, toEndpoint } from './git-request.ts';
import { openUpstream, type UpstreamOptions } from './open-upstream.ts';
import { type Push, readPush, UnreadablePush } from './read-push.ts';
import { toPushReport } from './to-push-report.ts';

/** A repository at a git host, and its token. */
export interface GitRemote {
  /** The URL of the repository as named in its resource. */
  readonly url: string;
  /** The base URL of git's requests. */
  readonly serviceUrl: string;
  readonly readToken: () => Promise<string | undefined>;
}

/** Which pushes are forwarded: none, all except deletions of refs, or all. */
export type GitPush = 'none' | 'no-delete' | 'all';

/** The dependencies of the git proxy of a session or of a clone. */
export interface GitProxyOptions extends UpstreamOptions {
  readonly find: (resourceId: string) => Promise<GitRemote | undefined>;
  readonly push: GitPush;
  /** Called with the status of each unsuccessful response of a git host. */
  readonly onRefused?: ((status: number) => void) | undefined;
}

/** Handles a request of git. Never rejects. */
export type GitProxy = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Forwards git's requests to the host of a repository and adds its token, so that git itself never has the token. Only fetches
 * and pushes of the repositories that `find` returns are forwarded.
 */
export function createGitProxy(options: GitProxyOptions): GitProxy {
  return (request, response) => {
    const handled = handle(options, request, response).catch((error: unknown) => {
      if (error instanceof PushRefusal) reportPush(request, response, error);
      else if (error instanceof Refusal) refuse(response, error);
      else if (response.headersSent) response.destroy();
      else refuse(response, new Refusal(502, error instanceof Error ? error.message : String(error)));
    });
    ignoringFailure(handled);
  };
}

async function handle(options: GitProxyOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = readGitRequest(request.method, request.url);
  if (asked === undefined && (await sendBack(options, request, response))) return;
  if (asked === undefined)
    throw new Refusal(403, 'only git fetch and git push of the repositories of this session are passed on');
  const remote = await options.find(asked.resourceId);
  if (remote === undefined) throw new Refusal(403, 'this is not a repository of this session');
  const head = await checkPush(options, asked, request);
  const { path, answers } = toEndpoint(asked);
  const upstream = await openUpstream(options, {
    url: new URL(`${remote.serviceUrl}${path}`),
    method: asked.type === 'refs' ? 'GET' : 'POST',
    headers: toHeaders(request, await remote.readToken()),
  });
  response.on('close', () => upstream.destroy());
  const answered = new Promise<IncomingMessage>((resolve, reject) =>
    upstream.on('response', resolve).on('error', reject),
  );
  upstream.write(head);
  // A failure to send is ignored: the host may respond before it has read the whole request.
  ignoringFailure(pipeline(request, upstream));
  const answer = await answered;
  checkAnswer(options, remote, answer, answers);
  response.writeHead(200, pick(answer.headers, ['content-type', 'content-encoding', 'cache-control']));
  await pipeline(answer, response);
}

/** Redirects a request for a repository that is not a resource to its host, which git then reaches without a token, if the network allows it. */
async function sendBack(
  options: GitProxyOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const other = readLongerUrl(request.method, request.url);
  const remote = other && (await options.find(other.resourceId));
  if (remote === undefined) return false;
  response.writeHead(302, { location: `${remote.url}${other!.rest}`, connection: 'close' }).end();
  return true;
}

/** Throws for a push that is not allowed. Returns the bytes of the body that were read for the check. */
async function checkPush({ push }: GitProxyOptions, asked: GitRequest, request: IncomingMessage): Promise<Buffer> {
  if (asked.service === 'git-upload-pack' || push === 'all') return Buffer.alloc(0);
  if (push === 'none')
    throw new Refusal(403, 'this server does not allow git push; its operator can allow it with --git-push');
  if (asked.type === 'refs') return Buffer.alloc(0);
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new Refusal(403, 'a compressed push cannot be checked');
  }
  const read = await readPush(request).catch((error: unknown) => {
    throw error instanceof UnreadablePush ? new Refusal(403, error.message) : error;
  });
  if (read.deleted.length === 0) return read.head;
  throw new PushRefusal(
    read,
    'this server does not allow deleting refs; its operator can allow it with --git-push all',
  );
}

function toHeaders({ headers }: IncomingMessage, token: string | undefined): Record<string, string> {
  return {
    ...pick(headers, [
      'accept',
      'accept-encoding',
      'content-type',
      'content-encoding',
      'content-length',
      'git-protocol',
    ]),
    // Some hosts respond differently to git than to browsers.
    'user-agent': 'git/2.0 (fleetloom)',
    ...(token === undefined
      ? {}
      : { authorization: `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}` }),
  };
}

/** Throws unless the response is from a git server. The body of an error is not shown: it could contain the token. */
function checkAnswer(
  { onRefused }: GitProxyOptions,
  { url }: GitRemote,
  answer: IncomingMessage,
  expected: string,
): void {
  const { statusCode: status = 502 } = answer;
  const isGit = answer.headers['content-type'] === expected;
  if (status === 200 && isGit) return;
  answer.destroy();
  onRefused?.(status);
  const reason =
    REASONS[status] ??
    (status === 200 ? 'its host does not answer as a git server does' : `its host answered with ${status}`);
  // A 401 would make git prompt for a password without a terminal.
  throw new Refusal(status >= 400 && status !== 401 ? status : 403, `${url}: ${reason}`);
}

const REASONS: Readonly<Record<number, string>> = {
  301: 'its host has moved it; use its new URL',
  302: 'its host has moved it; use its new URL',
  307: 'its host has moved it; use its new URL',
  308: 'its host has moved it; use its new URL',
  401: 'its host does not accept the token of this session, or needs one',
  403: 'the token of this session may not do this',
  404: 'its host has no such repository, or the token of this session may not see it',
};

/** An error response that git shows to the agent. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A rejected push, reported for each ref. */
class PushRefusal extends Error {
  readonly push: Push;

  constructor(push: Push, message: string) {
    super(message);
    this.push = push;
  }
}

/** Reports a rejected push in git's format after the whole request is read: otherwise git would not show the reason. */
function reportPush(request: IncomingMessage, response: ServerResponse, { push, message }: PushRefusal): void {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/x-git-receive-pack-result', 'cache-control': 'no-cache' });
    response.end(toPushReport(push, message));
  });
}

function refuse(response: ServerResponse, { status, message }: Refusal): void {
  // The rest of a large body is not read.
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(`${message}\n`);
}

function pick(headers: IncomingMessage['headers'], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]] as const] : [])),
  );
}

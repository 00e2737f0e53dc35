import { requestError } from '../../base/request-error.ts';
import { toPersonId } from '../../keys/person.ts';
import { ROLES } from '../../keys/scopes.ts';
import { mapClaims } from '../../single-sign-on/map-claims.ts';
import type { Identified } from '../../single-sign-on/provider.ts';
import type { SignInFlow } from '../../single-sign-on/sign-in-flow.ts';
import type { SignOnProvider, SingleSignOn } from '../../single-sign-on/single-sign-on.ts';
import { signOnLimits } from '../../single-sign-on/limits.ts';
import { readFlowCookie, toFlowCookie } from '../auth/web-cookie.ts';
import { sendAnswer } from '../response/answer.ts';
import { readBody } from '../request/read-body.ts';
import { type AuditCaller, createAuditorOf, toPersonBy } from '../routing/auditor.ts';
import type { Endpoint } from '../routing/endpoint.ts';
import type { Exchange } from '../routing/exchange.ts';
import { isPrefetch, declinePrefetch } from './prefetch.ts';
import type { Dashboard } from './dashboard.ts';
import type { StoredLogin } from './logins.ts';
import { redirect, signIn, toTarget } from './sign-in.ts';

/**
 * Signing in at an OpenID provider: `GET /login/oidc/{id}` redirects to it, the browser returns to `…/callback`, and the provider
 * ends logins at `POST …/backchannel`.
 */
export function signOnEndpoints(dashboard: Dashboard): readonly Endpoint[] {
  const { signOn } = dashboard;
  if (signOn === undefined) return [];
  const recordStranger = createStrangerLog(dashboard);
  const path = '/login/oidc/{id}';
  return [
    { method: 'GET', path, name: 'dashboard.sign_on', handle: begin },
    { method: 'GET', path: `${path}/callback`, name: 'dashboard.sign_on', handle: finish },
    { method: 'POST', path: `${path}/backchannel`, name: 'dashboard.sign_on_logout', handle: endByProvider },
  ];

  async function begin(exchange: Exchange, params: Readonly<Record<string, string>>): Promise<void> {
    const provider = findProvider(signOn!, params);
    const { headers, method } = exchange.incoming;
    if (method === 'HEAD' || isPrefetch(headers)) return declinePrefetch(exchange);
    const query = queryOf(exchange);
    const asked = { issuerId: provider.config.id, page: query.get('page'), workspaceId: query.get('workspace') };
    const { cookie, flow } = signOn!.flows.begin(asked);
    const address = await provider.begin(flow).catch((error: unknown) => report(provider, error));
    if (address === undefined) return redirect(exchange, '../../login?problem=provider');
    exchange.outgoing.setHeader('set-cookie', toFlowCookie(exchange, cookie, signOnLimits.flowMs));
    redirect(exchange, address.href);
  }

  async function finish(exchange: Exchange, params: Readonly<Record<string, string>>): Promise<void> {
    const provider = findProvider(signOn!, params);
    const query = queryOf(exchange);
    const flow = readFlow(exchange, provider, query);
    if (flow === undefined) return await refuseStranger(exchange, provider, 'not_this_browser', 'expired');
    exchange.outgoing.setHeader('set-cookie', toFlowCookie(exchange));
    if (query.has('error')) return await refuseStranger(exchange, provider, 'refused_by_provider', 'cancelled');
    const identified = await provider.finish(query, flow).catch((error: unknown) => report(provider, error));
    if (identified === undefined) return await refuseStranger(exchange, provider, 'not_identified', 'provider');
    await letIn(exchange, provider, flow, identified);
  }

  function readFlow(exchange: Exchange, { config }: SignOnProvider, query: URLSearchParams): SignInFlow | undefined {
    const cookie = readFlowCookie(exchange.incoming.headers);
    const flow = cookie === undefined ? undefined : signOn!.flows.read(cookie, query.get('state'));
    // Each provider has a callback of its own, so that a response is never attributed to another provider.
    return flow?.issuerId === config.id ? flow : undefined;
  }

  async function letIn(
    exchange: Exchange,
    provider: SignOnProvider,
    flow: SignInFlow,
    found: Identified,
  ): Promise<void> {
    const { issuer, claims, idToken, sessionId } = found;
    const mapped = mapClaims(provider.config, issuer, claims, flow.workspaceId ?? undefined);
    const { person } = mapped;
    if (mapped.type === 'refused')
      return await refuse(exchange, provider, toPersonBy(person), mapped.reason, 'refused');
    if (!(await signOn!.flows.finish(flow))) {
      return await refuse(exchange, provider, toPersonBy(person), 'already_used', 'expired');
    }
    const visitor = {
      keyId: toPersonId(person),
      workspaceId: mapped.workspaceId,
      role: mapped.role,
      scopes: ROLES[mapped.role],
      person,
      sessionMs: signOn!.sessionMs,
      idToken: signOn!.seal(person, idToken),
      providerSession: sessionId,
    };
    await signIn(exchange, dashboard, visitor, toTarget(flow.page, '../../../'));
  }

  async function refuseStranger(
    exchange: Exchange,
    provider: SignOnProvider,
    reason: string,
    problem: keyof typeof PROBLEMS,
  ): Promise<void> {
    await recordStranger(exchange, provider, reason);
    redirect(exchange, `../../../login?problem=${problem}`);
  }

  async function refuse(
    exchange: Exchange,
    provider: SignOnProvider,
    by: AuditCaller,
    reason: string,
    problem: keyof typeof PROBLEMS,
  ): Promise<void> {
    const audit = createAuditorOf(exchange, toAuditWorkspace(provider), by);
    await dashboard.auditLog.append([audit('login.refused', null, { provider: provider.config.id, reason })]);
    redirect(exchange, `../../../login?problem=${problem}`);
  }

  /** Ends the logins that the provider names, in every workspace that its people can be in. */
  async function endByProvider(exchange: Exchange, params: Readonly<Record<string, string>>): Promise<void> {
    const provider = findProvider(signOn!, params);
    exchange.acceptBody();
    const body = await readBody(exchange.incoming, signOnLimits.logoutTokenBytesMax);
    const token = new URLSearchParams(body.toString()).get('logout_token') ?? '';
    const order = await provider.readLogoutToken(token).catch((cause: unknown) => {
      throw requestError('invalid_request', 'the logout token is not valid', { cause });
    });
    const { issuer, subject, sessionId, at } = order;
    const by: AuditCaller = { type: 'provider', provider: provider.config.id, issuer };
    for (const workspaceId of new Set(provider.config.grants.map(({ workspace }) => workspace))) {
      const audit = createAuditorOf(exchange, workspaceId, by);
      for (const { id, person, providerSession, createdAt } of await dashboard.logins.list(workspaceId)) {
        const isTheirs = person?.issuer === issuer && (subject === undefined || person.subject === subject);
        const isNamed = sessionId === undefined || providerSession === sessionId;
        if (isTheirs && isNamed && createdAt <= at) await dashboard.logins.end(id, audit('login.revoked', id));
      }
    }
    sendAnswer(exchange.outgoing, { status: 200, headers: { 'cache-control': 'no-store' }, body: {} });
  }

  function report(provider: SignOnProvider, cause: unknown): undefined {
    dashboard.onProblem(new Error(`sign-in with ${provider.config.id} failed: ${describe(cause)}`, { cause }));
  }
}

/** The URL at the provider to which a signed-out browser is redirected, to sign out there as well. */
export async function findProviderLogout(
  { signOn, onProblem }: Pick<Dashboard, 'signOn' | 'onProblem'>,
  { person, idToken }: StoredLogin,
): Promise<string | undefined> {
  if (person === undefined || signOn === undefined) return undefined;
  try {
    return await signOn.endSessionUrl(person, idToken);
  } catch (error) {
    // The login has ended on this server; the provider is not reachable.
    onProblem(error);
    return undefined;
  }
}

/** The message of the sign-in page after a failed sign-in at a provider. */
export function toSignOnProblem(name: string | null): { readonly status: number; readonly problem?: string } {
  const problem = name !== null && Object.hasOwn(PROBLEMS, name) ? PROBLEMS[name as keyof typeof PROBLEMS] : undefined;
  return problem === undefined ? { status: 200 } : { status: 403, problem };
}

const PROBLEMS = {
  expired: 'This sign-in took too long, was used already, or began in another browser. Sign in again.',
  cancelled: 'The identity provider did not sign you in.',
  provider: 'The identity provider could not be reached, or its answer was not valid. The log of the server says why.',
  refused:
    'You are signed in at the identity provider, but nothing there gives you access. Ask an admin of this server.',
} as const;

/** Records browsers that no provider has identified, up to a rate: visitors must not fill the log. */
function createStrangerLog({ auditLog, clock }: Dashboard) {
  let minute = 0;
  let [recorded, omitted] = [0, 0];
  return async (exchange: Exchange, provider: SignOnProvider, reason: string): Promise<void> => {
    const now = Math.floor(clock.steady() / 60_000);
    if (now !== minute) [minute, recorded] = [now, 0];
    if (recorded >= signOnLimits.strangerEntriesPerMinute) return void (omitted += 1);
    recorded += 1;
    const details = { provider: provider.config.id, reason, ...(omitted === 0 ? {} : { omitted }) };
    omitted = 0;
    const audit = createAuditorOf(exchange, toAuditWorkspace(provider), { type: 'stranger' });
    await auditLog.append([audit('login.refused', null, details)]);
  };
}

/** The workspace of the audit entry: a rejected person has none, so the workspace of the first grant is used. */
function toAuditWorkspace({ config }: SignOnProvider): string {
  return config.grants[0]!.workspace;
}

function findProvider({ providers }: SingleSignOn, { id }: Readonly<Record<string, string>>): SignOnProvider {
  const provider = providers.find(({ config }) => config.id === id);
  if (provider === undefined) throw requestError('unknown_path', 'there is no such identity provider');
  return provider;
}

function queryOf({ incoming: { url = '/' } }: Exchange): URLSearchParams {
  if (url.length > signOnLimits.callbackCharsMax) throw requestError('invalid_request', 'the query is too long');
  return new URL(url, 'http://here').searchParams;
}

/** The error message of the library, which names the invalid claim but not its value. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, cause } = error as Error & { code?: string };
  const inner = cause instanceof Error ? `: ${cause.message}` : '';
  return `${error.message}${code === undefined ? '' : ` (${code})`}${inner}`;
}

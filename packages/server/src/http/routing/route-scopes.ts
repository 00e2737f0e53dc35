import { requestError } from '../../base/request-error.ts';
import { type Credential, hasScope } from '../../keys/credential.ts';
import type { Scope } from '../../keys/scopes.ts';

/**
 * All scopes that an API key needs for each route. docs/keys-and-roles.md repeats this table, and a test
 * compares both with the registered routes. Environment keys and session tokens have no scopes: `accepts` of a route is for them.
 */
export const ROUTE_SCOPES: Readonly<Record<string, readonly Scope[]>> = {
  'agents.archive': ['manage'],
  'agents.create': ['manage'],
  'agents.list': ['read'],
  'agents.retrieve': ['read'],
  'agents.update': ['manage'],
  'agents.versions.list': ['read'],
  'credentials.archive': ['manage'],
  'credentials.create': ['manage'],
  'credentials.delete': ['manage'],
  'credentials.list': ['read'],
  'credentials.retrieve': ['read'],
  'credentials.update': ['manage'],
  'credentials.validate': ['manage'],
  'environment_keys.create': ['admin'],
  'environment_keys.list': ['admin'],
  'environment_keys.revoke': ['admin'],
  'environments.archive': ['manage'],
  'environments.create': ['manage'],
  'environments.delete': ['manage'],
  'environments.list': ['read'],
  'environments.retrieve': ['read'],
  'environments.update': ['manage'],
  'files.delete': ['manage'],
  'files.download': ['read'],
  'files.list': ['read'],
  'files.retrieve_metadata': ['read'],
  'files.upload': ['run'],
  fleet: ['read'],
  // A rule answers the pending approvals that it matches, and later ones.
  'fleet.approval_rules.create': ['approve', 'manage'],
  'fleet.approval_rules.list': ['read'],
  'fleet.approval_rules.preview': ['read'],
  'fleet.approval_rules.revoke': ['manage'],
  'fleet.audit': ['admin'],
  'fleet.costs': ['read'],
  'fleet.keys.create': ['admin'],
  'fleet.keys.revoke': ['admin'],
  'fleet.keys.rotate': ['admin'],
  'fleet.load': ['read'],
  'fleet.logins.list': ['admin'],
  'fleet.logins.revoke': ['admin'],
  'fleet.secrets': ['admin'],
  'fleet.secrets.rotate': ['admin'],
  'fleet.sessions': ['read'],
  'fleet.settings': ['read'],
  'imports.create': ['run'],
  // A link never has more rights than the caller.
  'login_links.create': ['read'],
  metrics: ['read'],
  'models.list': ['read'],
  'models.retrieve': ['read'],
  'models.retrieve_scripted': ['read'],
  'oauth_flows.create': ['manage'],
  'oauth_flows.retrieve': ['read'],
  orchestrate: ['run'],
  'programs.list': ['read'],
  'programs.retrieve': ['read'],
  'push.key': ['read'],
  'push_subscriptions.create': ['read'],
  'push_subscriptions.delete': ['read'],
  'push_subscriptions.list': ['read'],
  'push_subscriptions.test': ['read'],
  'requests.cancel': ['run'],
  'requests.events': ['read'],
  'requests.list': ['read'],
  'requests.retrieve': ['read'],
  scripted: ['run'],
  'sessions.archive': ['run'],
  'sessions.changes.apply': ['run'],
  'sessions.changes.diff': ['read'],
  'sessions.changes.diffs': ['read'],
  'sessions.changes.discard': ['run'],
  'sessions.changes.list': ['read'],
  'sessions.changes.merge': ['run'],
  'sessions.changes.restore': ['run'],
  'sessions.changes.steps': ['read'],
  'sessions.create': ['run'],
  'sessions.delete': ['manage'],
  'sessions.egress.list': ['read'],
  'sessions.events.list': ['read'],
  // Depends on the events: see `checkEventScopes`.
  'sessions.events.send': [],
  'sessions.events.stream': ['read'],
  'sessions.export': ['read'],
  'sessions.files.content': ['read'],
  'sessions.fleet': ['read'],
  'sessions.fork': ['run'],
  'sessions.health': ['read'],
  'sessions.list': ['read'],
  'sessions.program.diff': ['read'],
  'sessions.program.rewind': ['run'],
  'sessions.program.usage': ['read'],
  'sessions.resources.add': ['run'],
  'sessions.resources.delete': ['run'],
  'sessions.resources.list': ['read'],
  'sessions.resources.retrieve': ['read'],
  'sessions.resources.update': ['run'],
  'sessions.retrieve': ['read'],
  'sessions.threads.archive': ['run'],
  'sessions.threads.events.list': ['read'],
  'sessions.threads.list': ['read'],
  'sessions.threads.messages.send': ['run'],
  'sessions.threads.retrieve': ['read'],
  'sessions.threads.stream': ['read'],
  'sessions.tree': ['read'],
  // The tools of a session decide which of its calls wait for an approval.
  'sessions.update': ['manage'],
  'vaults.archive': ['manage'],
  'vaults.create': ['manage'],
  'vaults.delete': ['manage'],
  'vaults.list': ['read'],
  'vaults.retrieve': ['read'],
  'vaults.update': ['manage'],
  'work.ack': ['run'],
  'work.heartbeat': ['run'],
  'work.list': ['read'],
  'work.poll': ['run'],
  'work.retrieve': ['read'],
  'work.stats': ['read'],
  'work.stop': ['run'],
  'work.update': ['run'],
};

/** The scopes of a route. A route that is missing in the table needs all scopes. */
export function scopesOf(route: string): readonly Scope[] {
  return Object.hasOwn(ROUTE_SCOPES, route) ? ROUTE_SCOPES[route]! : ['run', 'approve', 'manage', 'admin'];
}

/** Throws, naming the scope, if an API key lacks one that the route needs. */
export function checkScopes(route: string, credential: Credential): void {
  if (credential.kind !== 'api') return;
  // The body decides which of the two scopes is needed. A key with neither is rejected before.
  const sendsNothing = !hasScope(credential, 'run') && !hasScope(credential, 'approve');
  const needed = route === 'sessions.events.send' && sendsNothing ? (['run'] as const) : scopesOf(route);
  requireScopes(route, credential, needed);
}

/** The fields of an event that decide which scopes it needs. */
interface SentEvent {
  readonly type: string;
  readonly updated_input?: object | null;
}

/**
 * Throws if an API key may not send one of these events: decisions need `approve`, all other events need `run`. A decision that
 * changes the input needs both, since its sender then chooses the call.
 */
export function checkEventScopes(credential: Credential, events: readonly SentEvent[]): void {
  if (credential.kind !== 'api') return;
  for (const [index, { type, updated_input: input }] of events.entries()) {
    const isDecision = type === 'user.tool_confirmation';
    const needed: readonly Scope[] = isDecision ? (input == null ? ['approve'] : ['run', 'approve']) : ['run'];
    requireScopes(`sessions.events.send: events.${index}: ${type}`, credential, needed);
  }
}

/** Throws unless the credential has these scopes. */
export function requireScopes(what: string, credential: Credential, needed: readonly Scope[]): void {
  const missing = needed.filter((scope) => !hasScope(credential, scope));
  if (missing.length === 0) return;
  const names = missing.length === 1 ? `the scope ${missing[0]}` : `the scopes ${missing.join(' and ')}`;
  throw requestError('scope_missing', `${what} needs ${names}, which this key does not have`, {
    details: { scopes: missing },
  });
}

/** The prefix of each resource's ids; an underscore and an opaque part follow. */
export const idPrefixes = {
  agent: 'agent',
  environment: 'env',
  session: 'sesn',
  session_thread: 'sthr',
  event: 'sevt',
  session_resource: 'sesrsc',
  approval_rule: 'rule',
  work: 'work',
  file: 'file',
  skill: 'skill',
  vault: 'vlt',
  credential: 'vcrd',
  oauth_flow: 'vflow',
  memory_store: 'memstore',
  memory: 'mem',
  memory_version: 'memver',
  deployment: 'depl',
  deployment_run: 'drun',
  outcome: 'outc',
  workspace: 'wrkspc',
  request: 'req',
  page: 'page',
} as const;
/** The prefix of an id. */
export type IdPrefix = (typeof idPrefixes)[keyof typeof idPrefixes];

/** How the id of each kind of thing begins; an underscore and something opaque follow. */
export const idPrefixes = {
  agent: 'agent',
  environment: 'env',
  session: 'sesn',
  session_thread: 'sthr',
  event: 'sevt',
  session_resource: 'sesrsc',
  work: 'work',
  file: 'file',
  skill: 'skill',
  vault: 'vlt',
  credential: 'vcrd',
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
export type IdPrefix = (typeof idPrefixes)[keyof typeof idPrefixes];

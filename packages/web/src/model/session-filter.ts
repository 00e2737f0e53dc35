import type { FleetSession, FleetSessionQuery, FleetSessionSort, FleetSessionState } from '@fleetloom/protocol/fleet';
import { sessionStates } from '@fleetloom/protocol/fleet';

/** The filter and order of the list of sessions. The address contains it. */
export interface SessionFilter {
  readonly q: string;
  readonly status: readonly FleetSessionState[];
  readonly agent: readonly string[];
  readonly model: readonly string[];
  readonly sort: FleetSessionSort;
  readonly order: 'asc' | 'desc';
}

/** The filter of an address without one: all sessions, the newest first, so that no row moves while agents run. */
export const noFilter: SessionFilter = { q: '', status: [], agent: [], model: [], sort: 'created', order: 'desc' };

/** The fields that sessions can be sorted by, with the direction of the first click. */
export const sorts: Readonly<
  Record<FleetSessionSort, { readonly label: string; readonly order: SessionFilter['order'] }>
> = {
  created: { label: 'Newest', order: 'desc' },
  activity: { label: 'Last activity', order: 'desc' },
  state: { label: 'Needs you first', order: 'asc' },
  name: { label: 'Title', order: 'asc' },
  agent: { label: 'Agent', order: 'asc' },
  cost: { label: 'Cost', order: 'desc' },
  tokens: { label: 'Tokens', order: 'desc' },
  duration: { label: 'Duration', order: 'desc' },
};

/** The filter in the query part of an address. Values that do not exist are ignored. */
export function parseFilter(search: string): SessionFilter {
  const fields = new URLSearchParams(search);
  const sort = fields.get('sort') ?? '';
  const known = isSort(sort) ? sort : noFilter.sort;
  const order = fields.get('order');
  return {
    q: fields.get('q') ?? '',
    status: fields.getAll('status').filter(isState),
    agent: fields.getAll('agent'),
    model: fields.getAll('model'),
    sort: known,
    order: order === 'asc' || order === 'desc' ? order : sorts[known].order,
  };
}

/** The filter as the query part of an address; empty for `noFilter`. */
export function formatFilter({ q, status, agent, model, sort, order }: SessionFilter): string {
  const fields = new URLSearchParams();
  if (q !== '') fields.set('q', q);
  for (const one of status) fields.append('status', one);
  for (const one of agent) fields.append('agent', one);
  for (const one of model) fields.append('model', one);
  if (sort !== noFilter.sort) fields.set('sort', sort);
  if (order !== sorts[sort].order) fields.set('order', order);
  return fields.toString();
}

/** The filter as the server's query. */
export function toQuery({ q, status, agent, model, sort, order }: SessionFilter): FleetSessionQuery {
  return {
    sort,
    order,
    ...(q.trim() === '' ? {} : { q: q.trim() }),
    ...(status.length === 0 ? {} : { status }),
    ...(agent.length === 0 ? {} : { agent }),
    ...(model.length === 0 ? {} : { model }),
  };
}

/** Whether the filter selects sessions; an order alone shows all of them. */
export function isFiltered({ q, status, agent, model }: SessionFilter): boolean {
  return q.trim() !== '' || status.length + agent.length + model.length > 0;
}

/** Whether a changed row still belongs to the list. The search text cannot be checked here: the server also searches the first message. */
export function isListedBy({ status, agent, model }: SessionFilter, row: FleetSession): boolean {
  const hasState = status.length === 0 ? row.state !== 'archived' : status.includes(row.state);
  const hasAgent = agent.length === 0 || agent.includes(row.agent.name);
  return hasState && hasAgent && (model.length === 0 || model.includes(row.model));
}

function isState(text: string): text is FleetSessionState {
  return Object.hasOwn(sessionStates, text);
}

function isSort(text: string): text is FleetSessionSort {
  return Object.hasOwn(sorts, text);
}

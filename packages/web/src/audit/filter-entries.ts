import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';

/** Which entries are shown. */
export interface AuditFilter {
  /** A part of the name, role, id or kind of the caller. */
  readonly actor: string;
  /** A part of the action or its target. */
  readonly action: string;
  /** The first and the last local day, such as `2026-11-19`, both inclusive. Empty for no bound. */
  readonly from: string;
  readonly to: string;
}

/** The filter of an address. */
export function readFilter(search: string): AuditFilter {
  const fields = new URLSearchParams(search);
  const get = (name: string) => fields.get(name)?.trim() ?? '';
  return { actor: get('actor'), action: get('action'), from: toDay(get('from')), to: toDay(get('to')) };
}

/** The filter as the query of an address. */
export function toSearch(filter: AuditFilter): string {
  const fields = Object.entries(filter).filter(([, value]) => value !== '');
  return new URLSearchParams(fields.map(([name, value]) => [name, String(value)])).toString();
}

/** Whether an entry is shown. */
export function isShown(entry: FleetAuditEntry, { actor, action, from, to }: AuditFilter): boolean {
  const at = Date.parse(entry.recorded_at);
  if (from !== '' && at < startOf(from)) return false;
  if (to !== '' && at >= startOf(to, 1)) return false;
  const { action: done, target } = entry.entry;
  return has(toActorText(entry), actor) && has(`${done} ${target ?? ''}`, action);
}

/** Whether all entries before this one are too old for the filter. */
export function isBefore(entry: FleetAuditEntry, { from }: AuditFilter): boolean {
  return from !== '' && Date.parse(entry.recorded_at) < startOf(from);
}

/** The caller of an entry, for people. */
export function toActor({ entry: { by } }: FleetAuditEntry): string {
  const called = NAMES.map((field) => by[field]).find(isName);
  const kind = isName(by['role']) ? by['role'] : by.type;
  return called === undefined ? kind : `${called} (${kind})`;
}

/** Fields that can name a caller, the most readable first: a subject may be a number without meaning. */
const NAMES = ['email', 'name', 'subject', 'key_name', 'key_id', 'user', 'provider', 'rule_id'];

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** The text in which the caller is searched. */
function toActorText(entry: FleetAuditEntry): string {
  return `${toActor(entry)} ${JSON.stringify(entry.entry.by)} ${entry.entry.address ?? ''}`;
}

function has(text: string, words: string): boolean {
  return text.toLowerCase().includes(words.toLowerCase());
}

function toDay(text: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : '';
}

/** The beginning of a local day, or of the day `later` days after it. */
function startOf(day: string, later = 0): number {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + later).getTime();
}

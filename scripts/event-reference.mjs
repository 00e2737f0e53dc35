import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTypes, unionMembers } from './support/read-types.mjs';
import { repositoryRoot } from './support/root.mjs';

// Writes docs/reference: every event of the three protocols with its fields, from the TypeScript types and their comments.
// Usage: event-reference.mjs [--check]. With --check it writes nothing and fails where a committed page differs.

/** A page for each protocol: where its types are, which fields every event shares, and its events by union. */
const pages = [
  {
    path: 'docs/reference/managed-agents-events.md',
    title: 'Managed Agents events',
    intro:
      'Events of `/v1/sessions/{id}/events` and its stream. [Events](../events.md) explains how to send, list and stream them.',
    sources: [
      'managed-agents/client-event.ts',
      'managed-agents/event.ts',
      'managed-agents/content.ts',
      'managed-agents/session-error.ts',
      'managed-agents/usage.ts',
    ],
    shared: [],
    groups: [
      ['Events that a client sends', 'ClientEventParams'],
      ['The same events in lists and streams', 'ClientEvent'],
      ['Session events', 'SessionLevelEvent'],
      ['Thread events', 'ThreadLevelEvent'],
      ['Agent events', 'AgentEvent'],
      ['Model requests', 'SpanEvent'],
      ['Previews of an unfinished event', 'PreviewEvent'],
      ['The end of a stream', 'SessionDeletedEvent'],
    ],
  },
  {
    path: 'docs/reference/fleet-events.md',
    title: 'Fleet stream events',
    intro:
      'Events of the fleet streams of `/v1/orchestrate` and `/v1/fleet`. [Fleet streams](../fleet-streams.md) explains how to read and fold them.',
    sources: ['fleet/wire/event-base.ts', 'fleet/wire/events.ts', 'fleet/wire/workspace-events.ts'],
    shared: ['FleetEventBase', 'StreamEventBase'],
    groups: [
      ['Events of a run', 'RunEvent'],
      ['Events of a turn', 'StreamEvent'],
      ['Events of a session outside of its turns', 'SessionLevelEvent'],
      ['Events of the connection', 'ConnectionEvent'],
      ['Events that this version does not know', 'UnknownEvent'],
    ],
  },
  {
    path: 'docs/reference/stream-json-events.md',
    title: 'stream-json events',
    intro:
      'Events that `@fleetloom/protocol/stream-json` emits for a Claude Code stream. [stream-json](../stream-json.md) explains how to read one.',
    sources: ['stream-json/wire/events.ts'],
    shared: ['Envelope'],
    groups: [['Events', 'EventBody']],
  },
];

const isCheck = process.argv.includes('--check');
for (const page of pages) {
  const path = join(repositoryRoot, page.path);
  const text = toPage(page, readSources(page.sources));
  if (!isCheck) {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
  } else if (readIfAny(path) !== text) {
    console.log(`${page.path} is not what the types say: run node scripts/event-reference.mjs and commit the result`);
    process.exitCode = 1;
  }
}

function readSources(sources) {
  const read = sources.map((source) =>
    readTypes(readFileSync(join(repositoryRoot, 'packages/protocol/src', source), 'utf8')),
  );
  return {
    interfaces: new Map(read.flatMap(({ interfaces }) => [...interfaces])),
    aliases: new Map(read.flatMap(({ aliases }) => [...aliases])),
  };
}

function toPage({ title, intro, sources, shared, groups }, types) {
  const used = new Set();
  const eventGroups = groups.map(([heading, union]) => [
    heading,
    types.aliases.get(union)?.doc ?? '',
    eventsOf(union, types),
  ]);
  const lines = [`# ${title}`, '', intro, ''];
  const files = sources.map((source) => `\`packages/protocol/src/${source}\``).join(' and ');
  lines.push(`Generated from ${files} by \`node scripts/event-reference.mjs\`. Do not edit.`, '');
  for (const name of shared) {
    const { doc, fields } = types.interfaces.get(name);
    lines.push(`## ${name}`, '', ...toParagraph(doc), ...toTable(fields, used));
  }
  for (const [heading, doc, events] of eventGroups) {
    lines.push(`## ${heading}`, '', ...toParagraph(doc));
    for (const event of events) lines.push(...toSection(event, types, shared, used));
  }
  const named = namedTypes(
    used,
    types,
    new Set([...shared, ...eventGroups.flatMap(([, , events]) => events.map(({ name }) => name))]),
  );
  if (named.length > 0) lines.push('## Types', '', ...named);
  return `${lines.join('\n').trimEnd()}\n`;
}

/** The interfaces of a union, unions inside it included, in their order. */
function eventsOf(name, types) {
  const found = types.interfaces.get(name);
  if (found !== undefined) return [found];
  const alias = types.aliases.get(name);
  if (alias === undefined) throw new Error(`${name} is not a type of these sources`);
  return unionMembers(alias.type).flatMap((member) => eventsOf(member, types));
}

function toSection(event, types, shared, used) {
  const { fields, inherited } = collectFields(event, types, shared);
  const names = fields.find(({ name }) => name === 'type')?.type ?? event.name;
  const heading = unionMembers(names)
    .map((name) => `\`${name.replaceAll("'", '')}\``)
    .join(', ');
  const also =
    inherited.length === 0
      ? []
      : [`Has all fields of ${inherited.map((name) => `[${name}](#${name.toLowerCase()})`).join(' and ')}.`, ''];
  const own = fields.filter(({ name }) => name !== 'type');
  return [`### ${heading}`, '', ...toParagraph(event.doc), ...also, ...toTable(own, used)];
}

/** The fields of an event, including inherited fields; shared interfaces are named instead of repeated. */
function collectFields(event, types, shared) {
  const inherited = [];
  const fields = event.extends.flatMap((base) => {
    const [, isPartial, name] = /^(Partial<)?(\w+)>?$/.exec(base) ?? [];
    if (shared.includes(name)) {
      inherited.push(name);
      return [];
    }
    const found = types.interfaces.get(name);
    if (found === undefined) throw new Error(`${event.name} extends ${base}, which is not in these sources`);
    const below = collectFields(found, types, shared);
    inherited.push(...below.inherited);
    return isPartial === undefined ? below.fields : below.fields.map((field) => ({ ...field, isOptional: true }));
  });
  const own = new Set(event.fields.map(({ name }) => name));
  return {
    fields: [...fields.filter(({ name }) => !own.has(name)), ...event.fields],
    inherited: [...new Set(inherited)],
  };
}

function toTable(fields, used) {
  const shown = fields.filter(({ type }) => type !== 'never');
  if (shown.length === 0) return [];
  for (const { type } of shown) for (const name of type.match(/\b[A-Z]\w+/g) ?? []) used.add(name);
  const rows = shown.map(
    ({ name, isOptional, type, doc }) =>
      `| \`${name}\`${isOptional ? ' (optional)' : ''} | \`${plainType(type)}\` | ${escape(doc)} |`,
  );
  return ['| Field | Type | Meaning |', '|---|---|---|', ...rows, ''];
}

/** The types that the tables name, and the types that these name in turn. */
function namedTypes(used, types, known) {
  const lines = [];
  for (const name of used) {
    if (known.has(name)) continue;
    const found = types.interfaces.get(name) ?? types.aliases.get(name);
    if (found === undefined) continue;
    lines.push(`### ${name}`, '', ...toParagraph(found.doc));
    if ('fields' in found) lines.push(...toTable(collectFields(found, types, []).fields, used));
    else {
      for (const named of found.type.match(/\b[A-Z]\w+/g) ?? []) used.add(named);
      lines.push('```ts', `type ${name} =${found.type.includes('\n') ? '\n  ' : ' '}${found.type};`, '```', '');
    }
  }
  return lines;
}

function toParagraph(doc) {
  return doc === '' ? [] : [doc, ''];
}

/** A type as a reader of JSON needs it. */
function plainType(type) {
  return escape(type.replace(/readonly /g, '').replace(/Readonly<(Record<[^>]*>)>/g, '$1'));
}

function escape(text) {
  return text.replaceAll('|', '\\|');
}

function readIfAny(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

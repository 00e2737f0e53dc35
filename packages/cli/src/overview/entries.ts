import type { BlockPlace } from '@fleetloom/protocol/stream-json';
import { limits } from '../limits.ts';
import type { Agent, CallEntry, Entry, Overview, TextEntry } from './overview.ts';

/** Appends an entry; past the limit the oldest ones are only counted. Agents are never dropped from the tree. */
export function addEntry(agent: Agent, entry: Entry): void {
  agent.entries.push(entry);
  if (hasPlace(entry)) agent.byPlace.set(entry.place, entry);
  // Twice the limit before cutting, so that the cost of cutting is spread over as many additions.
  if (agent.entries.length >= limits.entriesPerAgentMax * 2) dropOldest(agent);
}

export function placeOf(place: BlockPlace): string {
  return `${place.message_id ?? ''}#${place.block}`;
}

/** Takes a text or call out of the tree; returns it where it was there. */
export function dropPlace(agent: Agent, place: string): TextEntry | CallEntry | undefined {
  const entry = agent.byPlace.get(place);
  agent.byPlace.delete(place);
  if (entry) agent.entries = agent.entries.filter((each) => each !== entry);
  return entry;
}

/** Hangs an agent under its parent: on the call that spawned it where that is known, else in order of arrival. */
export function moveAgent(overview: Overview, agent: Agent, parentKey: string, toolUseId?: string): void {
  const parent = overview.agents.get(parentKey);
  // A hostile stream may say that two agents spawned each other; then what was known before stands.
  if (!parent || isBelow(overview, parent, agent)) return;
  const call = parent.entries.find((entry) => entry.type === 'call' && entry.id === toolUseId) as CallEntry | undefined;
  if (call) {
    detach(overview, agent);
    call.agent = agent.key;
  } else if (agent.parent !== parentKey || !hangsOn(parent, agent)) {
    detach(overview, agent);
    parent.entries.push({ type: 'agent', agent: agent.key });
  }
  agent.parent = parentKey;
  parent.hasAgents = true;
}

function hasPlace(entry: Entry): entry is TextEntry | CallEntry {
  return entry.type === 'text' || entry.type === 'thinking' || entry.type === 'call';
}

function dropOldest(agent: Agent): void {
  const keepFrom = agent.entries.length - limits.entriesPerAgentMax;
  agent.entries = agent.entries.filter((entry, index) => {
    const kept = index >= keepFrom || entry.type === 'agent' || (entry.type === 'call' && entry.agent !== undefined);
    if (!kept && hasPlace(entry)) agent.byPlace.delete(entry.place);
    return kept;
  });
}

function isBelow(overview: Overview, below: Agent, above: Agent): boolean {
  if (below === above) return true;
  // Nearly always: an agent is hung up before it has agents of its own, and need not be looked for up the whole tree.
  if (!above.hasAgents) return false;
  for (let at: Agent | undefined = below; at; at = at.parent === null ? undefined : overview.agents.get(at.parent)) {
    if (at === above) return true;
  }
  return false;
}

function hangsOn(parent: Agent, agent: Agent): boolean {
  return parent.entries.some((entry) => (entry.type === 'agent' || entry.type === 'call') && entry.agent === agent.key);
}

/** Takes an agent off its parent. */
export function detach(overview: Overview, agent: Agent): void {
  const parent = agent.parent === null ? undefined : overview.agents.get(agent.parent);
  if (!parent) return;
  for (const entry of parent.entries) if (entry.type === 'call' && entry.agent === agent.key) delete entry.agent;
  parent.entries = parent.entries.filter((entry) => entry.type !== 'agent' || entry.agent !== agent.key);
}

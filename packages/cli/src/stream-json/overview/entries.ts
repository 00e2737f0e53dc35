import type { BlockPlace } from '@fleetloom/protocol/stream-json';
import { limits } from '../../base/limits.ts';
import type { Agent, CallEntry, Entry, Overview, TextEntry } from './overview.ts';

/** Appends an entry; above the limit, the oldest entries are only counted. Agents are never dropped. */
export function addEntry(agent: Agent, entry: Entry): void {
  agent.entries.push(entry);
  if (hasPlace(entry)) agent.byPlace.set(entry.place, entry);
  // Trimmed at twice the limit, so that the cost is spread over many additions.
  if (agent.entries.length >= limits.entriesPerAgentMax * 2) dropOldest(agent);
}

/** The key of a block: its message and its index. */
export function placeOf(place: BlockPlace): string {
  return `${place.message_id ?? ''}#${place.block}`;
}

/** Removes a text or call from the tree and returns it; undefined if the tree does not contain it. */
export function dropPlace(agent: Agent, place: string): TextEntry | CallEntry | undefined {
  const entry = agent.byPlace.get(place);
  agent.byPlace.delete(place);
  if (entry) agent.entries = agent.entries.filter((each) => each !== entry);
  return entry;
}

/** Attaches an agent to its parent: at the call that spawned it if known, else in order of arrival. */
export function moveAgent(overview: Overview, agent: Agent, parentKey: string, toolUseId?: string): void {
  const parent = overview.agents.get(parentKey);
  // A hostile stream may claim that two agents spawned each other: the first statement wins.
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
  // Fast path: an agent without children cannot be its own ancestor.
  if (!above.hasAgents) return false;
  for (let at: Agent | undefined = below; at; at = at.parent === null ? undefined : overview.agents.get(at.parent)) {
    if (at === above) return true;
  }
  return false;
}

function hangsOn(parent: Agent, agent: Agent): boolean {
  return parent.entries.some((entry) => (entry.type === 'agent' || entry.type === 'call') && entry.agent === agent.key);
}

/** Detaches an agent from its parent. */
export function detach(overview: Overview, agent: Agent): void {
  const parent = agent.parent === null ? undefined : overview.agents.get(agent.parent);
  if (!parent) return;
  for (const entry of parent.entries) if (entry.type === 'call' && entry.agent === agent.key) delete entry.agent;
  parent.entries = parent.entries.filter((entry) => entry.type !== 'agent' || entry.agent !== agent.key);
}

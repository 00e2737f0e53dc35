import { limits } from '../../base/limits.ts';
import { cutLine } from './cut-line.ts';
import { addEntry, moveAgent, placeOf } from './entries.ts';
import type { EventOf } from './event-of.ts';
import type { Moment } from './moment.ts';
import type { Agent, Overview } from './overview.ts';

/** A tool call starts, or its input is complete. */
export function call(
  overview: Overview,
  agent: Agent,
  event: EventOf<'tool_use_start'> | EventOf<'tool_use'>,
  at: Moment,
): void {
  const place = placeOf(event);
  const input = event.type === 'tool_use' ? event.input : undefined;
  const known = agent.byPlace.get(place);
  agent.activity = { type: 'working' };
  if (known?.type === 'call') {
    known.input = input ?? known.input;
    return;
  }
  const spawned = overview.spawnedBy.get(event.toolUseId);
  agent.blocks += 1;
  agent.calls += 1;
  const entry = { type: 'call' as const, place, id: event.toolUseId, name: event.toolName, input, started: at };
  addEntry(agent, entry);
  if (overview.openCalls.size < limits.openCallsMax) {
    overview.openCalls.set(event.toolUseId, { agent, call: entry });
    agent.openCalls.add(event.toolUseId);
  }
  const child = spawned === undefined ? undefined : overview.agents.get(spawned);
  if (child) moveAgent(overview, child, agent.key, event.toolUseId);
}

/** A tool call has its result, which also closes the question to the user about it. */
export function answer(overview: Overview, agent: Agent, event: EventOf<'tool_result'>, at: Moment): void {
  for (const [requestId, request] of agent.openRequests) {
    if (request.toolUseId === event.toolUseId) agent.openRequests.delete(requestId);
  }
  const open = overview.openCalls.get(event.toolUseId);
  if (!open) return;
  overview.openCalls.delete(event.toolUseId);
  open.agent.openCalls.delete(event.toolUseId);
  open.agent.activity = { type: 'working' };
  if (event.isError) open.agent.failedCalls += 1;
  open.call.result = { isError: event.isError, message: event.isError ? cutLine(event.output) : '', at };
}

import { watchFleet } from '@fleetloom/client';
import { createSlots, type FleetEvent, foldSlots, type GateMode } from '@fleetloom/protocol/fleet';
import { expect, vi } from 'vitest';
import type { SessionEvent } from '../claude-server.ts';
import { type LogStory, toLogStory } from './log-story.ts';
import { findDifferences } from './same-story.ts';
import type { ScenarioRun } from './scenario-run.ts';
import type { Scenario } from './scenario.ts';
import { toFleetForm, toFleetStory } from './fleet-story.ts';
import { isWritten, MAIN, onlyItems, type Story } from './story.ts';
import { toEventsForm, toEventsStory } from './stream-stories.ts';
import { readTranscript } from './transcript.ts';
import { withoutWorkflows } from './without-workflows.ts';

interface CheckOptions extends Pick<Scenario, 'isDisturbed'> {
  /** When the server was started after a kill that did not wait for the program to write what it had printed. */
  readonly killedBefore?: number | undefined;
}

/**
 * The oracle of all scenarios: the transcript of the program, the log, the fleet stream and the Managed Agents events contain
 * the same story. Ends the session, so that the program has written everything.
 */
export async function checkStory(run: ScenarioRun, { isDisturbed = false, killedBefore }: CheckOptions): Promise<void> {
  const { server, session } = run;
  const lists = await readLists(run);
  const fleet = await readFleet(run);
  const gated = [await readFleet(run, 'live'), await readFleet(run, 'strict')];
  await server.client.beta.sessions.archive(session);
  const { frames, problems } = await server.log(session);
  const log = toLogStory(frames, killedBefore);
  const transcript = await readTranscript(run.home, log);
  const differences = [
    ...problems,
    ...findDifferences(transcript, withoutWorkflows(onlyItems(log, isWritten), transcript), {
      names: ['transcript', 'log'],
      isDisturbed,
    }),
    ...compareFleet(fleet, log),
    ...gated.flatMap((events) => compareGated(events, fleet, log)),
    ...compareLists(lists, log),
    ...compareLive(run, lists.session, fleet),
  ];
  expect(differences.join('\n')).toBe('');
}

interface Lists {
  readonly session: readonly SessionEvent[];
  readonly threads: ReadonlyMap<string, readonly SessionEvent[]>;
}

async function readLists({ server, session }: ScenarioRun): Promise<Lists> {
  const all: SessionEvent[] = [];
  for await (const event of server.client.beta.sessions.events.list(session)) all.push(event);
  const threads = new Map<string, readonly SessionEvent[]>();
  for (const { id } of await server.threads(session)) threads.set(id, await server.threadEvents(session, id));
  return { session: all, threads };
}

async function readFleet({ server, session }: ScenarioRun, gate: GateMode = 'off'): Promise<FleetEvent[]> {
  const { url, key } = server;
  const events: FleetEvent[] = [];
  const watch = watchFleet({ url, key, session, include: ['thinking'], gate, follow: false });
  for await (const event of watch) events.push(event);
  return events;
}

function compareFleet(events: readonly FleetEvent[], log: LogStory): string[] {
  const story = toFleetStory(events, log);
  const names = ['log', 'fleet stream'] as const;
  const differences = findDifferences(toFleetForm(log, log), story, { names, isDisturbed: false });
  return [...differences, ...compareSlots(events, story, log)];
}

/** Compares streams with different gates, which hold back only the main agent. */
function compareGated(events: readonly FleetEvent[], fleet: readonly FleetEvent[], log: LogStory): string[] {
  const isSub = ([key]: readonly [string, unknown]) => key !== MAIN;
  const [expected, actual] = [fleet, events].map((each) => {
    const { threads, problems } = toFleetStory(each, log);
    return { threads: new Map([...threads].filter(isSub)), problems };
  });
  return findDifferences(expected!, actual!, { names: ['fleet stream', 'gated fleet stream'], isDisturbed: false });
}

/** Compares the result of the protocol's reducer for the same events. */
function compareSlots(events: readonly FleetEvent[], story: Story, { keys }: LogStory): string[] {
  const slots = events.reduce(foldSlots, createSlots({ textCharsMax: 10_000_000 }));
  const texts = new Map<string, string>();
  for (const { threadId, text } of slots.runs.flatMap((each) => each.slots)) {
    const key = keys.get(threadId ?? '') ?? MAIN;
    texts.set(key, (texts.get(key) ?? '') + text.tail);
  }
  const differences = [...story.threads].flatMap(([key, { items }]) => {
    const said = items.flatMap((item) => (item.kind === 'text' ? [item.text] : [])).join('');
    return texts.get(key) === said ? [] : [`thread ${key}: its slots say ${JSON.stringify(texts.get(key))}`];
  });
  const running = slots.runs.flatMap((each) => each.slots).filter(({ state }) => state === 'running');
  return [
    ...differences,
    ...slots.gaps.map(({ reason, cursor }) => `the fleet stream has a gap at ${cursor}: ${reason}`),
    ...running.map(({ agent }) => `the slot of ${agent} is still running`),
  ];
}

function compareLists({ session, threads }: Lists, log: LogStory): string[] {
  // Approvals of sub-agents are on the lists of the session and of its primary thread too, with their own thread.
  const isOwn = (key: string) => (event: SessionEvent) => key !== MAIN || isOfMain(event, log);
  const byKey = new Map(
    [...threads].map(([id, events]) => {
      const key = log.keys.get(id) ?? id;
      return [key, events.filter(isOwn(key))];
    }),
  );
  // Errors of sub-agents are on those lists too, and do not say whose they are.
  const ofOthers = new Set([...byKey].flatMap(([key, events]) => (key === MAIN ? [] : events.map(toMark))));
  const isMain = (event: SessionEvent) => isOwn(MAIN)(event) && !ofOthers.has(toMark(event));
  byKey.set(MAIN, byKey.get(MAIN)!.filter(isMain));
  const expected = toEventsForm(log);
  const options = { isDisturbed: false } as const;
  const ofThreads = toEventsStory(byKey, log);
  const main = { threads: new Map([[MAIN, expected.threads.get(MAIN)!]]), problems: [] };
  return [
    ...findDifferences(expected, ofThreads, { ...options, names: ['log', 'lists of the threads'] }),
    ...findDifferences(main, toEventsStory(new Map([[MAIN, session.filter(isMain)]]), log), {
      ...options,
      names: ['log', 'list of the session'],
    }),
  ];
}

function isOfMain(event: SessionEvent, { keys }: LogStory): boolean {
  const { session_thread_id: id } = event as { readonly session_thread_id?: string | null };
  return id === undefined || id === null || keys.get(id) === MAIN;
}

/** Compares the events of live readers with those of a later reader: each event once and in the same order. */
function compareLive(run: ScenarioRun, list: readonly SessionEvent[], fleet: readonly FleetEvent[]): string[] {
  const listed = list.map(toMark);
  // A message that has to wait is delivered twice, and listed once.
  const live = run.events.filter((event) => !('processed_at' in event) || event.processed_at !== null).map(toMark);
  const cursors = fleet.map(({ cursor }) => cursor);
  const liveCursors = run.fleet.map(({ cursor }) => cursor);
  return [
    ...(live.join() === listed.join() ? [] : [`the live session stream delivered ${live.join()} for ${listed.join()}`]),
    ...(liveCursors.join() === cursors.join() ? [] : [`the live fleet stream delivered other events than its replay`]),
  ];
}

function toMark({ type, id }: { readonly type: string; readonly id?: string }): string {
  return `${type} ${id}`;
}

/** Waits until the live fleet stream has delivered the last event of a replay. */
export async function catchUp(run: ScenarioRun): Promise<void> {
  const last = (await readFleet(run)).at(-1)?.cursor;
  await vi.waitFor(() => expect(run.fleet.at(-1)?.cursor).toBe(last), { timeout: 10_000, interval: 20 });
}

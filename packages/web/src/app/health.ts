import type { FleetLoad, SessionHealth } from '@fleetloom/protocol/fleet';
import { useEffect } from 'react';
import { Polled } from '../connection/polled.ts';
import { limits } from '../limits.ts';
import { Signal } from './signal.ts';
import { fleet } from './stores.ts';

/** How many model requests the server has under way and may have, while somebody looks at the header. */
export const load = {
  value: undefined as FleetLoad | undefined,
  changed: new Signal(),
};

const polledLoad = new Polled<FleetLoad>({
  path: 'v1/fleet/load',
  everyMs: limits.loadMs,
  isWanted,
  onRead: (answer) => {
    load.value = answer;
    load.changed.emit();
  },
});

/** Keeps the load up to date while the component is there. */
export function useLoad(): void {
  useEffect(() => polledLoad.watch(), []);
}

/** Keeps up to date what the server knows of sessions with stalled threads, while the component shows them. */
export function useHealth(sessionIds: readonly string[]): void {
  const key = [...new Set(sessionIds)].toSorted().join(' ');
  useEffect(() => {
    const ends = key.split(' ').flatMap((sessionId) => (sessionId === '' ? [] : [healthOf(sessionId).watch()]));
    return () => ends.forEach((end) => end());
  }, [key]);
}

const polledHealth = new Map<string, Polled<SessionHealth>>();

function healthOf(sessionId: string): Polled<SessionHealth> {
  const known = polledHealth.get(sessionId);
  if (known !== undefined) return known;
  const polled = new Polled<SessionHealth>({
    path: `v1/sessions/${sessionId}/health`,
    everyMs: limits.healthMs,
    isWanted,
    onRead: (answer) => {
      fleet.model.know(sessionId).model.health = answer;
      fleet.tell();
    },
  });
  polledHealth.set(sessionId, polled);
  return polled;
}

function isWanted(): boolean {
  return fleet.isLive && !fleet.replay.isOn;
}

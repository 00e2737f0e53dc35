import type { FleetLoad, SessionHealth } from '@fleetloom/protocol/fleet';
import { useEffect } from 'react';
import { Polled } from './connection/polled.ts';
import { connectionLimits } from './connection/limits.ts';
import { Signal } from './signal.ts';
import { fleet } from './stores.ts';

/** Model requests in progress on the server and their limit; current while a component uses `useLoad`. */
export const load = {
  value: undefined as FleetLoad | undefined,
  changed: new Signal(),
};

const polledLoad = new Polled<FleetLoad>({
  path: 'v1/fleet/load',
  everyMs: connectionLimits.loadMs,
  isWanted,
  onRead: (answer) => {
    load.value = answer;
    load.changed.emit();
  },
});

/** Polls the load while the component is mounted. */
export function useLoad(): void {
  useEffect(() => polledLoad.watch(), []);
}

/** Polls the health of these sessions while the component is mounted. */
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
    everyMs: connectionLimits.healthMs,
    isWanted,
    onRead: (answer) => {
      fleet.model.know(sessionId).model.health = answer;
      fleet.notify();
    },
  });
  polledHealth.set(sessionId, polled);
  return polled;
}

function isWanted(): boolean {
  return fleet.isLive && !fleet.replay.isOn;
}

import { useSyncExternalStore } from 'react';

/** Something that changes and is looked at: who draws it is told that it changed, and reads it then. */
export class Signal {
  #version = 0;
  readonly #listeners = new Set<() => void>();

  emit(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly version = (): number => this.#version;
}

/** Draws the component again when it changes. */
export function useSignal(signal: Signal): number {
  return useSyncExternalStore(signal.subscribe, signal.version, signal.version);
}

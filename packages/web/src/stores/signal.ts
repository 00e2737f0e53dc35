import { useSyncExternalStore } from 'react';

/** Emits when a store changed. Listeners read the store again; the signal carries no value. */
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

/** Renders the component again when the signal emits. */
export function useSignal(signal: Signal): number {
  return useSyncExternalStore(signal.subscribe, signal.version, signal.version);
}

import { limits } from '../limits.ts';
import { Signal } from './signal.ts';

/** How long a decision can be taken back before it is sent. What one can choose from; 0: it is sent at once. */
export const undoChoicesMs: readonly number[] = [0, limits.undoMs, 5_000, 15_000];

/** Anybody can write into the storage of a browser: only what can be chosen counts. */
export function parseUndoMs(text: string | null): number {
  const ms = text === null ? limits.undoMs : Number(text);
  return undoChoicesMs.includes(ms) ? ms : limits.undoMs;
}

class UndoSetting {
  readonly changed = new Signal();
  ms = parseUndoMs(typeof localStorage === 'undefined' ? null : localStorage.getItem(KEY));

  set(ms: number): void {
    this.ms = parseUndoMs(String(ms));
    localStorage.setItem(KEY, String(this.ms));
    this.changed.emit();
  }
}

const KEY = 'fleetloom.undo';

export const undoSetting = new UndoSetting();

import { storeLimits } from './limits.ts';
import { Signal } from './signal.ts';

/** Choices for how long a decision can be undone before it is sent; 0 sends it at once. */
export const undoChoicesMs: readonly number[] = [0, storeLimits.undoMs, 5_000, 15_000];

/** Reads the stored setting. Browser storage is untrusted: anything but a listed choice counts as the default. */
export function parseUndoMs(text: string | null): number {
  const ms = text === null ? storeLimits.undoMs : Number(text);
  return undoChoicesMs.includes(ms) ? ms : storeLimits.undoMs;
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

/** The setting of this browser. */
export const undoSetting = new UndoSetting();

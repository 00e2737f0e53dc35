import { Signal } from '../stores/signal.ts';

/** The columns that can be hidden, with their names in the menu. The other columns identify the thread and its activity. */
export const hideableColumns = {
  task: 'Task',
  model: 'Model',
  in: 'Time in state',
  spark: 'Text per second',
  context: 'Context window',
  tokens: 'Tokens',
  cost: 'Cost',
  below: 'Cost with delegated threads',
  errors: 'Failures',
  age: 'Last event',
} as const;

/** The name of a column that can be hidden. */
export type HideableColumn = keyof typeof hideableColumns;

/** Reads the stored choice. Browser storage is untrusted, so unknown names are ignored. */
export function parseHidden(text: string | null): readonly HideableColumn[] {
  return (text ?? '').split(' ').filter((name): name is HideableColumn => Object.hasOwn(hideableColumns, name));
}

/** The columns of the fleet that the user has hidden in this browser. */
class ColumnChoice {
  readonly changed = new Signal();
  hidden = parseHidden(typeof localStorage === 'undefined' ? null : localStorage.getItem(KEY));

  toggle(name: HideableColumn): void {
    const others = this.hidden.filter((one) => one !== name);
    this.hidden = others.length === this.hidden.length ? [...others, name] : others;
    localStorage.setItem(KEY, this.hidden.join(' '));
    this.changed.emit();
  }
}

const KEY = 'fleetloom.hidden-columns';

/** The choice of this browser. */
export const columnChoice = new ColumnChoice();

import { useSignal } from '../stores/signal.ts';
import { columnChoice, type HideableColumn, hideableColumns } from './column-choice.ts';

/** Shows and hides columns of the fleet. */
export function ColumnMenu() {
  useSignal(columnChoice.changed);
  return (
    <details className="column-menu">
      <summary>Columns</summary>
      <fieldset>
        <legend className="hidden-text">Columns</legend>
        {Object.entries(hideableColumns).map(([name, label]) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={!columnChoice.hidden.includes(name as HideableColumn)}
              onChange={() => columnChoice.toggle(name as HideableColumn)}
            />{' '}
            {label}
          </label>
        ))}
      </fieldset>
    </details>
  );
}

import { useSignal } from '../stores/signal.ts';
import { ui } from '../stores/stores.ts';

const themes = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;

/** Chooses the colours of this browser. */
export function ThemeChoice() {
  useSignal(ui.changed);
  return (
    <div className="segments" role="group" aria-label="Theme">
      {themes.map(([theme, name]) => (
        <button key={theme} type="button" aria-pressed={ui.theme === theme} onClick={() => ui.setTheme(theme)}>
          {name}
        </button>
      ))}
    </div>
  );
}

import { LinkBadge } from './LinkBadge.tsx';
import { pages } from './pages.ts';
import { notices } from '../stores/notices/notices.ts';
import { useSignal } from '../stores/signal.ts';
import { fleet, ui } from '../stores/stores.ts';
import { withCommandKey } from '../ui/command-key.ts';
import type { Page } from '../ui/page.ts';
import { StateCounts } from './StateCounts.tsx';

/** Pages, connection and settings, above every page. */
export function TopBar({ current }: { current: Page }) {
  useSignal(fleet.changed);
  return (
    <header className="topbar">
      <span className="brand">
        <svg
          width="18"
          height="18"
          viewBox="0 0 32 32"
          aria-hidden="true"
          fill="none"
          strokeWidth="3.6"
          strokeLinecap="round"
        >
          <path d="M4 8h16M4 16h24M4 24h11" stroke="#56b4e9" />
          <path d="M20 8h8" stroke="#e69f00" />
          <path d="M15 24h13" stroke="#009e73" />
        </svg>
        Fleetloom
      </span>
      <nav aria-label="Pages">
        {pages.map(({ view, name, shortcut, count, under }) => {
          if (under !== undefined) return null;
          const number = count?.() ?? 0;
          return (
            <a
              key={view}
              href={`#/${view}`}
              data-page={view}
              aria-current={view === (current.under ?? current.view) ? 'page' : undefined}
              title={`${name} (g ${shortcut})`}
            >
              {name}
              {number > 0 && <span className="badge">{number}</span>}
            </a>
          );
        })}
      </nav>
      <StateCounts />
      <button
        type="button"
        className="palette-button"
        aria-label="Search sessions and commands"
        onClick={() => ui.set({ dialog: { type: 'palette' } })}
      >
        <span>Search …</span>
        <kbd>{withCommandKey('K')}</kbd>
      </button>
      <LinkBadge />
      <NoticeButton />
      <ThemeButton />
      <button
        type="button"
        className="icon"
        title="Keyboard shortcuts (?)"
        aria-label="Keyboard shortcuts"
        onClick={() => ui.set({ dialog: { type: 'help' } })}
      >
        ?
      </button>
    </header>
  );
}

function NoticeButton() {
  useSignal(notices.changed);
  const { isOn } = notices.settings;
  return (
    <button
      type="button"
      className="icon"
      title={`Notifications: ${isOn ? 'on' : 'off'}`}
      aria-label={`Notifications: ${isOn ? 'on' : 'off'}`}
      onClick={() => ui.set({ dialog: { type: 'notices' } })}
    >
      <svg
        width="14"
        height="14"
        viewBox="0 0 14 14"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.3"
        aria-hidden="true"
      >
        <path d="M3 10V6.2a4 4 0 0 1 8 0V10l1 1H2zM5.6 12.4h2.8" fill={isOn ? 'currentColor' : 'none'} />
        {!isOn && <path d="M1.5 1.5l11 11" />}
      </svg>
    </button>
  );
}

function ThemeButton() {
  const next = { dark: 'light', light: 'system', system: 'dark' } as const;
  const glyph = { dark: '☾', light: '☀', system: '◑' }[ui.theme];
  return (
    <button
      type="button"
      className="icon"
      title={`Theme: ${ui.theme}`}
      aria-label={`Theme: ${ui.theme}. Change it`}
      onClick={() => ui.setTheme(next[ui.theme])}
    >
      {glyph}
    </button>
  );
}

import { LinkBadge } from './LinkBadge.tsx';
import { notices } from './notices.ts';
import { useSignal } from './signal.ts';
import { fleet, ui } from './stores.ts';
import type { View } from './ui-store.ts';

const views: readonly { readonly view: View; readonly name: string; readonly keys: string }[] = [
  { view: 'fleet', name: 'Fleet', keys: 'g f' },
  { view: 'inbox', name: 'Inbox', keys: 'g i' },
  { view: 'thread', name: 'Thread', keys: 'g t' },
  { view: 'agents', name: 'Agents', keys: 'g a' },
];

export function TopBar({ view }: { view: View }) {
  useSignal(fleet.changed);
  const asks = fleet.asksNow().length;
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
      <nav aria-label="Views">
        {views.map((one) => (
          <a
            key={one.view}
            href={`#/${one.view}`}
            aria-current={one.view === view ? 'page' : undefined}
            title={`${one.name} (${one.keys})`}
          >
            {one.name}
            {one.view === 'inbox' && asks > 0 && <span className="badge">{asks}</span>}
          </a>
        ))}
      </nav>
      <button type="button" className="palette-button" onClick={() => ui.set({ dialog: { type: 'palette' } })}>
        <span>Go to or do …</span>
        <kbd>⌘K</kbd>
      </button>
      <LinkBadge />
      <NoticeButton />
      <ThemeButton />
      <button
        type="button"
        className="icon"
        title="Keys (?)"
        aria-label="Keys"
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

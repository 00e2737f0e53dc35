import { createRoot } from 'react-dom/client';
import './ui/colours.css';
import './ui/base.css';
import { App } from './shell/App.tsx';
// Imported after the pages, so that texts look the same on all of them.
import './ui/text/text.css';
import { fleet, ui } from './stores/stores.ts';
import { inBackground } from './stores/connection/in-background.ts';
import { followRights } from './stores/rights.ts';
import { followSessions } from './stores/follow-sessions.ts';
import { decisions } from './stores/decisions.ts';
import { listenToKeys } from './shell/listen-to-keys.ts';

const root = document.querySelector('#app');
if (root === null) throw new Error('index.html has no #app');
ui.applyTheme();
ui.readHash();
addEventListener('hashchange', () => ui.readHash());
// Canvases read the colours when they are painted, so a change of the theme repaints them.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => fleet.notify());
followSessions();
fleet.start();
listenToKeys();
// Without a response every control is shown; the server rejects actions that the login may not perform.
inBackground(followRights());
// On every page, calls that a rule of the user covers are approved without asking.
fleet.changed.subscribe(() => decisions.follow(fleet.pendingItems()));
createRoot(root).render(<App />);

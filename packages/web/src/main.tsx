import { createRoot } from 'react-dom/client';
import './app/colours.css';
import './app/app.css';
import './fleet/fleet.css';
import './inbox/inbox.css';
import './thread/thread.css';
import './agents/agents.css';
import './text/text.css';
import { App } from './app/App.tsx';
import { fleet, ui } from './app/stores.ts';
import { decisions } from './inbox/decisions.ts';
import { listenToKeys } from './keys/listen.ts';

const root = document.querySelector('#app');
if (root === null) throw new Error('index.html has no #app');
ui.applyTheme();
ui.readHash();
addEventListener('hashchange', () => ui.readHash());
// What is drawn on canvases takes its colours when it is drawn.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => fleet.tell());
fleet.start();
listenToKeys();
// Whichever view is open: what somebody has allowed alike is not asked again.
fleet.changed.subscribe(() => decisions.follow(fleet.asksNow()));
createRoot(root).render(<App />);

import { fleet, ui } from '../app/stores.ts';
import { toSafeHtml } from '../text/markdown.ts';
import { collectThreads } from './collect-session.ts';
import { toHtml } from './to-html.ts';

/** The log of the session as a file, as `fleetloom export` writes it. */
export function exportLines(sessionId: string): void {
  save(`v1/sessions/${sessionId}/export`, `${sessionId}.ndjson`);
}

/** All threads as one page, to be read anywhere. */
export async function exportPage(sessionId: string): Promise<void> {
  const shown = fleet.shown().find(({ session }) => session.id === sessionId);
  if (shown === undefined) return;
  ui.say('Reading all threads …');
  const title = shown.session.record?.title ?? sessionId;
  const threads = await collectThreads(shown.rows);
  const page = toHtml({ title, sessionId, threads, render: toSafeHtml });
  const url = URL.createObjectURL(new Blob([page], { type: 'text/html' }));
  save(url, `${sessionId}.html`);
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  ui.say('The page is saved.');
}

function save(href: string, name: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  link.click();
}

import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { fleet, ui } from '../app/stores.ts';
import { readLog } from '../connection/read-log.ts';
import { toSafeHtml } from '../text/markdown.ts';
import { collectThreads } from './collect-session.ts';
import { toHtml } from './to-html.ts';
import { toOtlp } from './to-otlp.ts';

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
  saveText(page, 'text/html', `${sessionId}.html`);
  ui.say('The page is saved.');
}

/** As one trace, for what collects and draws traces. */
export async function exportTrace(sessionId: string): Promise<void> {
  ui.say('Reading the log …');
  const log: FleetEvent[] = [];
  for await (const events of readLog(sessionId, new AbortController().signal))
    for (const event of events) log.push(event);
  const title = fleet.model.sessions.get(sessionId)?.model.record?.title ?? sessionId;
  saveText(JSON.stringify(toOtlp(sessionId, title, log)), 'application/json', `${sessionId}.otlp.json`);
  ui.say('The trace is saved.');
}

function saveText(content: string, type: string, name: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  save(url, name);
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function save(href: string, name: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  link.click();
}

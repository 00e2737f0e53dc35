import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { fleet, ui } from '../../stores/stores.ts';
import { readLog } from '../../stores/connection/read-log.ts';
import { saveText, saveUrl } from '../../ui/save-file.ts';
import { toSafeHtml } from '../../ui/text/markdown.ts';
import { collectThreads } from '../transcript/collect-session.ts';
import { toHtml } from './to-html.ts';
import { toOtlp } from './to-otlp.ts';

/** Downloads the log of the session, as written by `fleetloom export`. */
export async function exportLines(sessionId: string): Promise<void> {
  saveUrl(`v1/sessions/${sessionId}/export`, `${sessionId}.ndjson`);
}

/** Downloads all threads as one self-contained HTML page. */
export async function exportPage(sessionId: string): Promise<void> {
  const shown = fleet.shown().find(({ session }) => session.id === sessionId);
  if (shown === undefined) return;
  ui.notify('Loading all threads …');
  const title = shown.session.record?.title ?? sessionId;
  const threads = await collectThreads(shown.rows);
  const page = toHtml({ title, sessionId, threads, render: toSafeHtml });
  saveText(page, 'text/html', `${sessionId}.html`);
  ui.notify('Page saved.');
}

/** Downloads the session as an OTLP trace. */
export async function exportTrace(sessionId: string): Promise<void> {
  ui.notify('Loading the log …');
  const log: FleetEvent[] = [];
  for await (const events of readLog(sessionId, new AbortController().signal))
    for (const event of events) log.push(event);
  const title = fleet.model.sessions.get(sessionId)?.model.record?.title ?? sessionId;
  saveText(JSON.stringify(toOtlp(sessionId, title, log)), 'application/json', `${sessionId}.otlp.json`);
  ui.notify('Trace saved.');
}

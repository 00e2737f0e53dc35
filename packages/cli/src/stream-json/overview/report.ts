/**
 * The report of an agent; undefined if there is none: 2.1.197 writes the name of the task or a fixed sentence instead.
 * Notes to the calling model are removed.
 */
export function toReport(summary: string, description: string | null | undefined): string | undefined {
  if (summary === description || summary.startsWith('Agent "')) return undefined;
  const report = summary.replace(/\nagentId: \S+ \(use SendMessage[\s\S]*$/, '').trim();
  return report === '' ? undefined : report;
}

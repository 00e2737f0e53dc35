/**
 * What an agent really handed back, or undefined: 2.1.197 puts its task's name or a sentence of its own in that place.
 * The program's notes to the calling model are cut off.
 */
export function toReport(summary: string, description: string | null | undefined): string | undefined {
  if (summary === description || summary.startsWith('Agent "')) return undefined;
  const report = summary.replace(/\nagentId: \S+ \(use SendMessage[\s\S]*$/, '').trim();
  return report === '' ? undefined : report;
}

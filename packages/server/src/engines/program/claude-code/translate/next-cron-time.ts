/**
 * When a schedule with five fields (minute, hour, day of month, month, day of week) is due next, in local time, or undefined if the text is
 * not such a schedule or is not due within a year. Older programs do not report the time, and have the time zone of this process.
 */
export function nextCronTime(schedule: string, after: number): number | undefined {
  const fields = schedule
    .trim()
    .split(/\s+/)
    .slice(0, bounds.length + 1);
  const sets = bounds.map(([from, to], at) => toSet(fields[at], from, to));
  const [minutes, hours, days, months, weekdays] = sets;
  if (fields.length !== bounds.length || !minutes || !hours || !days || !months || !weekdays) return undefined;
  const start = new Date(after);
  for (let offset = 0; offset <= DAYS_MAX; offset++) {
    const day = new Date(start.getFullYear(), start.getMonth(), start.getDate() + offset);
    // If both day of month and day of week are given, either match is enough.
    const isDay = days.has(day.getDate());
    const isWeekday = weekdays.has(day.getDay()) || (day.getDay() === 0 && weekdays.has(7));
    const isEither = fields[2] !== '*' && fields[4] !== '*';
    if (!months.has(day.getMonth() + 1) || !(isEither ? isDay || isWeekday : isDay && isWeekday)) continue;
    for (const hour of hours) {
      for (const minute of minutes) {
        const time = new Date(day.getFullYear(), day.getMonth(), day.getDate(), hour, minute).getTime();
        if (time > after) return time;
      }
    }
  }
  return undefined;
}

const DAYS_MAX = 366;
const bounds = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;

/** The values of a field, ascending: `*`, `5`, `1-5`, each with a step such as `*` + `/15`, and lists of these. */
function toSet(field: string | undefined, from: number, to: number): ReadonlySet<number> | undefined {
  const values = new Set<number>();
  for (const part of field?.split(',') ?? []) {
    const [, first, last, step = '1'] = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const isAll = part.startsWith('*');
    const low = isAll ? from : Number(first);
    const high = isAll ? to : Number(last ?? (part.includes('/') ? to : first));
    // A part that does not match is NaN, which is out of bounds.
    if (!(low >= from && high <= to && low <= high) || Number(step) === 0) return undefined;
    for (let value = low; value <= high; value += Number(step)) values.add(value);
  }
  return values.size === 0 ? undefined : new Set([...values].toSorted((left, right) => left - right));
}

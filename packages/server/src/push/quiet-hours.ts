/** The hours of each day in which no message is sent to a device. They may span midnight. */
export interface QuietHours {
  /** The beginning, in the time zone: `22:30`. */
  readonly from: string;
  readonly to: string;
  /** A name in the IANA time zone database: `Europe/Vienna`. */
  readonly timeZone: string;
}

/** Whether a time is in the quiet hours. */
export function isQuiet({ from, to, timeZone }: QuietHours, at: number): boolean {
  const time = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(at);
  return from < to ? time >= from && time < to : time >= from || time < to;
}

/** Whether this machine knows the time zone. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: name }).format(0);
    return true;
  } catch {
    return false;
  }
}

/** Hours of each day in which a device is sent nothing. They may span midnight. */
export interface QuietHours {
  /** `22:30`, in the time zone. */
  readonly from: string;
  readonly to: string;
  /** A name of the IANA database: `Europe/Vienna`. */
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

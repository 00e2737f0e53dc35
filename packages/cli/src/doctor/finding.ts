/** One thing that was looked at. */
export interface Finding {
  readonly name: string;
  /** `note`: something works less well, or is not set up; nothing is broken. */
  readonly state: 'ok' | 'note' | 'problem';
  readonly text: string;
  /** What to do about it. */
  readonly fix?: string;
}

/** The result of one check. */
export interface Finding {
  readonly name: string;
  /** `note`: optional or degraded, but not broken. */
  readonly state: 'ok' | 'note' | 'problem';
  readonly text: string;
  /** How to fix the problem. */
  readonly fix?: string;
}

/** Programs of the machine, by the paths at which the host finds them. */
export interface HostPrograms {
  /** The path of bash; undefined if bash may not run or is not installed. */
  readonly bash?: string | undefined;
  readonly ripgrep?: string | undefined;
}

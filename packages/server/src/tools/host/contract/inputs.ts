/** The checked input of each tool that runs in the tool host, as `definitions.ts` lets it through. */
export interface HostInputs {
  readonly bash: BashInput;
  readonly read: ReadInput;
  readonly write: WriteInput;
  readonly edit: EditInput;
  readonly glob: GlobInput;
  readonly grep: GrepInput;
}

export type HostToolName = keyof HostInputs;

export interface BashInput {
  readonly command?: string | null | undefined;
  readonly restart?: boolean | null | undefined;
  readonly timeout_ms?: number | null | undefined;
}

export interface ReadInput {
  readonly file_path: string;
  /** First line and last line. */
  readonly view_range?: readonly number[] | null | undefined;
}

export interface WriteInput {
  readonly file_path: string;
  readonly content: string;
}

export interface EditInput {
  readonly file_path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | null | undefined;
}

export interface GlobInput {
  readonly pattern: string;
  readonly path?: string | null | undefined;
}

export interface GrepInput {
  readonly pattern: string;
  readonly path?: string | null | undefined;
}

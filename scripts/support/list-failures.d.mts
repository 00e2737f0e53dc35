/** See list-failures.mjs. */
export interface FailureReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

export function listFailures(
  report: FailureReport | undefined,
  options: { readonly root: string; readonly max?: number },
): string[];

import { cleanLine } from '@fleetloom/protocol/text';
import type { Look } from '../terminal/look.ts';
import { isBad, judge, type Verdict } from './judge.ts';
import type { Result } from './run-checks.ts';

/** The result of a whole run, as `--json` prints it. */
export interface Report {
  readonly url: string;
  readonly sdk: string;
  readonly ok: boolean;
  readonly counts: Readonly<Record<Verdict['type'], number>>;
  readonly checks: readonly ReportedCheck[];
}

/** One check of the report. */
export type ReportedCheck = {
  readonly number: number;
  readonly grade: string;
  readonly group: string;
  readonly statement: string;
  readonly ms: number;
} & Verdict;

/** The results of all checks, as text and JSON. */
export function toReport(
  { url, sdk }: { readonly url: string; readonly sdk: string },
  results: readonly Result[],
  gaps: ReadonlyMap<number, string>,
): Report {
  const checks = results.map((result): ReportedCheck => {
    const { number, grade, group, statement } = result.check;
    return { number, grade, group, statement, ms: result.ms, ...judge(result, gaps) };
  });
  const count = (type: Verdict['type']) => checks.filter((each) => each.type === type).length;
  return {
    url,
    sdk,
    ok: !checks.some(isBad),
    counts: {
      passed: count('passed'),
      failed: count('failed'),
      not_applicable: count('not_applicable'),
      known_gap: count('known_gap'),
      stale_gap: count('stale_gap'),
    },
    checks,
  };
}

/** The report as text: failed checks with the expected and the seen value, other checks as counts. */
export function drawReport(report: Report, look: Pick<Look, 'glyphs' | 'paint'>): string {
  const groups = [...new Set(report.checks.map(({ group }) => group))];
  const lines = groups.flatMap((group) => {
    const checks = report.checks.filter((each) => each.group === group);
    return drawGroup(group, checks, look);
  });
  return [...lines, '', drawSum(report, look), ''].join('\n');
}

type Drawing = Pick<Look, 'glyphs' | 'paint'>;

function drawGroup(group: string, checks: readonly ReportedCheck[], look: Drawing): string[] {
  const passed = checks.filter(({ type }) => type === 'passed').length;
  const others = checks.filter(({ type }) => type !== 'passed');
  const title = `${look.paint(group, 'bold')}  ${passed} of ${checks.length} passed`;
  return [title, ...others.flatMap((each) => drawCheck(each, look))];
}

function drawCheck(check: ReportedCheck, { glyphs, paint }: Drawing): string[] {
  const title = `${check.number} ${check.statement}`;
  switch (check.type) {
    case 'failed':
      // Text from the server is untrusted.
      return [
        paint(`  ${glyphs.failed} ${title}`, 'failed'),
        `      expected  ${cleanLine(check.expected)}`,
        `      seen      ${cleanLine(check.seen)}`,
      ];
    case 'stale_gap':
      return [
        paint(`  ${glyphs.failed} ${title}`, 'failed'),
        `      passes: take it off the list of known gaps (${check.reason})`,
      ];
    case 'known_gap':
      return [paint(`  - ${title}: known gap, ${check.reason}`, 'dim')];
    case 'not_applicable':
      return [paint(`  - ${title}: not applicable, ${cleanLine(check.reason)}`, 'dim')];
    case 'passed':
      return [];
  }
}

function drawSum({ url, sdk, ok, counts, checks }: Report, { paint }: Drawing): string {
  const { passed, failed, stale_gap: stale, known_gap: known, not_applicable: not } = counts;
  const parts = [
    `${passed} of ${checks.length} passed`,
    ...(failed + stale > 0 ? [`${failed + stale} failed`] : []),
    ...(known > 0 ? [`${known} known gaps`] : []),
    ...(not > 0 ? [`${not} not applicable`] : []),
  ];
  return paint(`${url} with ${sdk}: ${parts.join(', ')}`, ok ? 'ok' : 'failed');
}

import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';
import { describe, expect, it } from 'vitest';
import { type AuditFilter, isBefore, isShown, readFilter, toActor, toSearch } from './filter-entries.ts';
import { PROBLEMS_MAX, UNCHECKED, type Verdict, verifyEnd, verifyNext } from './verify-chain.ts';

const none: AuditFilter = { actor: '', action: '', from: '', to: '' };

function toEntry(seq: number, change: Partial<FleetAuditEntry['entry']> = {}, hash = ''): FleetAuditEntry {
  const by = { type: 'key', key_id: 'key_1', key_name: 'CI' } as const;
  const entry = { action: 'vault.created', by, address: '192.0.2.1', target: 'vlt_1', ...change };
  const recorded_at = new Date(2026, 0, 10, 12, seq).toISOString();
  return { type: 'audit_entry', workspace_id: 'w', seq, recorded_at, entry, hash };
}

describe('filter', () => {
  it('[Z536] a caller is found by name, role, id and address, an action also by its target, without regard to case', () => {
    const login = toEntry(1, { by: { type: 'login', key_id: 'key_2', key_name: 'first key', role: 'viewer' } });
    expect([toActor(toEntry(1)), toActor(login)]).toEqual(['CI (key)', 'first key (viewer)']);
    expect(toActor(toEntry(1, { by: { type: 'system' } }))).toBe('system');
    for (const [actor, isFound] of [
      ['ci', true],
      ['KEY_1', true],
      ['192.0.2', true],
      ['viewer', false],
    ] as const) {
      expect([actor, isShown(toEntry(1), { ...none, actor })]).toEqual([actor, isFound]);
    }
    expect(isShown(toEntry(1), { ...none, action: 'VAULT.' })).toBe(true);
    expect(isShown(toEntry(1), { ...none, action: 'vlt_1' })).toBe(true);
    expect(isShown(toEntry(1), { ...none, action: 'key.' })).toBe(false);
  });

  it('[Z541] a person is shown with the email, name or subject, a command with its user, a provider with its id', () => {
    const person = { type: 'person', issuer: 'https://id.example', subject: 'ada-1' } as const;
    const actorOf = (by: FleetAuditEntry['entry']['by']) => toActor(toEntry(1, { by }));
    expect(actorOf({ ...person, email: 'ada@example.com', name: 'Ada', role: 'admin' })).toBe(
      'ada@example.com (admin)',
    );
    expect(actorOf({ ...person, email: null, name: 'Ada' })).toBe('Ada (person)');
    expect(actorOf(person)).toBe('ada-1 (person)');
    expect(actorOf({ type: 'command', user: 'root' })).toBe('root (command)');
    expect(actorOf({ type: 'provider', provider: 'okta', issuer: 'https://id.example' })).toBe('okta (provider)');
  });

  it('[Z536] days are local ones, both included, and what is older need not be looked at', () => {
    const day = (from: string, to: string) => isShown(toEntry(1), { ...none, from, to });
    expect([day('2026-01-10', '2026-01-10'), day('2026-01-11', ''), day('', '2026-01-09')]).toEqual([
      true,
      false,
      false,
    ]);
    expect(isBefore(toEntry(1), { ...none, from: '2026-01-11' })).toBe(true);
    expect(isBefore(toEntry(1), { ...none, to: '2026-01-01' })).toBe(false);
  });

  it('[Z536] the address keeps the filter, and what is not a day does not bound anything', () => {
    const filter = { actor: 'a & b', action: 'key.', from: '2026-01-01', to: '' };
    expect(readFilter(toSearch(filter))).toEqual(filter);
    expect(readFilter('from=yesterday&x=1')).toEqual(none);
  });
});

describe('verification', () => {
  const start = { seq: 0, hash: '0'.repeat(64) };

  it('[Z536] an entry that was changed, left out or moved is a problem, and at most 20 are kept', async () => {
    const chain: FleetAuditEntry[] = [];
    let before = start.hash;
    for (let seq = 1; seq <= 30; seq++) {
      const entry = toEntry(seq, { target: `vlt_${seq} \u{10ffff}` });
      const text = `${before}\nw\n${seq}\n${Date.parse(entry.recorded_at)}\n${JSON.stringify(entry.entry).replaceAll('\u{10ffff}', '\ufffd')}`;
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
      before = Buffer.from(digest).toString('hex');
      chain.push({ ...entry, hash: before });
    }
    const first = await verifyNext(UNCHECKED, chain.slice(0, 10), start);
    const whole = await verifyNext(first, chain.slice(10), start);
    expect([whole.checked, whole.problems, whole.last]).toEqual([30, [], { seq: 30, hash: before }]);
    const changed = chain.map((entry) => (entry.seq === 7 ? { ...entry, recorded_at: toEntry(8).recorded_at } : entry));
    expect((await verifyNext(UNCHECKED, changed, start)).problems).toEqual([
      'Entry 7 was changed, or the one before it: its hash does not match.',
    ]);
    const without = chain.filter(({ seq }) => seq !== 7);
    expect((await verifyNext(UNCHECKED, without, start)).problems).toEqual([
      'Entry 8 follows entry 6: entries are missing or out of order.',
    ]);
    const forged = chain.map((entry) => ({ ...entry, hash: entry.hash.replace(/^./, 'x') }));
    expect((await verifyNext(UNCHECKED, forged, start)).problems).toHaveLength(PROBLEMS_MAX);
    // The oldest were removed by the retention.
    const end = { seq: 10, hash: chain[9]!.hash };
    expect((await verifyNext(UNCHECKED, chain.slice(10), end)).problems).toEqual([]);
  });

  it('[ID202] the removal of the end, an entry behind the newest one and a rewritten newest one are problems', () => {
    const [last, head] = [
      { seq: 29, hash: 'a' },
      { seq: 30, hash: 'b' },
    ];
    const problemsOf = (verdict: Verdict, newest = head) => verifyEnd(verdict, start, newest).problems;
    const verdict = { checked: 29, problems: [], last };
    expect(problemsOf({ ...verdict, last: head })).toEqual([]);
    expect(problemsOf(UNCHECKED, start)).toEqual([]);
    expect(problemsOf(verdict)).toEqual(['The log ends at entry 29 of 30: its end was removed.']);
    expect(problemsOf(UNCHECKED)).toEqual(['The log ends at entry 0 of 30: its end was removed.']);
    expect(problemsOf({ ...verdict, last: { seq: 31, hash: 'c' } })).toEqual([
      'Entry 31 was inserted: the newest is 30.',
    ]);
    expect(problemsOf({ ...verdict, last: { seq: 30, hash: 'c' } })).toEqual([
      'Entry 30 was rewritten: its hash differs.',
    ]);
    const full = { ...verdict, problems: Array.from({ length: PROBLEMS_MAX }, (_, at) => `${at}`) };
    expect([problemsOf(full).length, problemsOf(full)[0]]).toEqual([PROBLEMS_MAX, expect.stringContaining('removed')]);
  });
});

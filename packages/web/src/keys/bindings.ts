/** Everything that keys do, as the help shows it. */
export const bindings: readonly {
  readonly where: string;
  readonly keys: readonly (readonly [keys: string, does: string])[];
}[] = [
  {
    where: 'Everywhere',
    keys: [
      ['g f', 'fleet'],
      ['g i', 'inbox'],
      ['g t', 'thread'],
      ['g a', 'agents'],
      ['⌘K', 'go to or do'],
      ['/', 'filter threads, find in a session'],
      ['n  N', 'next or previous that needs you'],
      ['.', 'back to live, and follow it'],
      ['?', 'this help'],
    ],
  },
  {
    where: 'Fleet',
    keys: [
      ['j  k', 'down, up'],
      ['Enter', 'open the thread'],
      ['←  →', 'fold, unfold'],
      ['s', 'message'],
      ['x  X', 'interrupt it, or it and all below'],
      ['o', 'order: tree or attention'],
      ['End', 'lanes follow live'],
    ],
  },
  {
    where: 'Inbox',
    keys: [
      ['a', 'approve once'],
      ['d', 'deny, with a word why'],
      ['A', 'approve alike'],
      ['r', 'answer'],
      ['Space', 'choose several'],
      ['z', 'take back'],
      ['e', 'edit the input and allow; of errors: seen'],
    ],
  },
  {
    where: 'Thread',
    keys: [
      ['j  k', 'next, previous block'],
      ['i', 'inspector'],
      ['Space', 'play, pause'],
      ['[  ]', 'one event back, on'],
      ['{  }', 'one turn back, on'],
      ['f', 'fork here, or run again, another way'],
      ['|', 'another thread beside it'],
      ['c', 'compare the two'],
      ['y', 'copy a link to here'],
      ['e', 'export the session'],
      ['s', 'message'],
      ['Esc', 'to the fleet'],
    ],
  },
];

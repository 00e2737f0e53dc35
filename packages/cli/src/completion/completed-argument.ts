/** Whether a shell can complete an argument of a command with sessions or approval rules of the server; undefined if with neither. */
export function toCompletedArgument(command: string, argument: string): 'session' | 'rule' | undefined {
  if (namesSession(command, argument)) return 'session';
  return argument === 'rule' ? 'rule' : undefined;
}

/** Whether an argument names a session of the server. `show` takes `<session>:<path>`; `attach` and `import` take local sessions of programs. */
export function namesSession(command: string, argument: string): boolean {
  if (command === 'show') return argument === 'file';
  if (command === 'attach' || command === 'import') return false;
  return argument === 'session' || argument === 'request';
}

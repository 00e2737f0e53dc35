/** What an argument of a command names, as far as a shell can complete it from the server: sessions, or approval rules. */
export function toCompletedArgument(command: string, argument: string): 'session' | 'rule' | undefined {
  if (namesSession(command, argument)) return 'session';
  return argument === 'rule' ? 'rule' : undefined;
}

/** `show` takes `<session>:<path>`. `attach` and `import` take sessions of Claude Code, which are not on the server. */
export function namesSession(command: string, argument: string): boolean {
  if (command === 'show') return argument === 'file';
  if (command === 'attach' || command === 'import') return false;
  return argument === 'session' || argument === 'request';
}

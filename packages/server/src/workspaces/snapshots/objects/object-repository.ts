import type { GitOutput, GitRunOptions } from '../../git/run-git.ts';
import type { ObjectFormat, ObjectType } from './object-format.ts';

/** Objects of git, and git commands on them. */
export interface ObjectRepository {
  readonly format: ObjectFormat;
  /** A larger file is not recorded. */
  readonly fileBytesMax: number;
  /** Runs a git command on this repository. */
  run(args: readonly string[], options?: Partial<GitRunOptions>): Promise<GitOutput>;
  /** Objects, in order. Each is named by its id or as `<tree>:<path>`; undefined for one that does not exist. */
  read(names: readonly string[]): Promise<(StoredObject | undefined)[]>;
  /** Stores objects. They can be read when this resolves. */
  write(objects: readonly NewObject[]): Promise<string[]>;
  /** A path in the repository directory. */
  file(...names: string[]): string;
}

/** An object of a repository. */
export interface StoredObject {
  readonly type: string;
  readonly content: Buffer;
}

/** An object that is to be stored. */
export interface NewObject {
  readonly type: ObjectType;
  readonly content: Buffer;
}

import type { GitOutput, GitRunOptions } from '../../git/run-git.ts';
import type { ObjectFormat, ObjectType } from './object-format.ts';

/** A repository of git objects, and git commands on it. */
export interface ObjectRepository {
  readonly format: ObjectFormat;
  /** Bytes of a file. Larger files are not recorded. */
  readonly fileBytesMax: number;
  /** Runs a git command on this repository. */
  run(args: readonly string[], options?: Partial<GitRunOptions>): Promise<GitOutput>;
  /** Reads objects, in order. Each is named by its id or as `<tree>:<path>`; undefined for an object that does not exist. */
  read(names: readonly string[]): Promise<(StoredObject | undefined)[]>;
  /** Stores objects and returns their ids. They can be read once this resolves. */
  write(objects: readonly NewObject[]): Promise<string[]>;
  /** The path of a file in the repository directory. */
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

import type {
  DeletedFile,
  DeletedSessionResource,
  DirectoryResource,
  DirectoryResourceParams,
  FileMetadata,
  FilePage,
  FileResource,
  FileResourceParams,
  GithubRepositoryResource,
  GithubRepositoryResourceParams,
  GitRepositoryResource,
  GitRepositoryResourceParams,
  ModelInfo,
  Work,
  WorkHeartbeat,
  WorkQueueStats,
  WorkUpdateParams,
} from '@fleetloom/protocol/managed-agents';
import { expectTypeOf } from 'vitest';
import type { z } from 'zod';
import type {
  deletedFile,
  deletedResource,
  directoryResource,
  directoryResourceParams,
  fileMetadata,
  filePage,
  fileResource,
  fileResourceParams,
  githubRepositoryResource,
  githubRepositoryResourceParams,
  gitRepositoryResource,
  gitRepositoryResourceParams,
} from './file.ts';
import type { modelInfo } from './model-info.ts';
import type { work, workHeartbeat, workQueueStats, workUpdateBody } from './work.ts';

// The schemas match the types of the protocol package. Only `readonly` differs, which schemas cannot express.

type Mutable<Value> = Value extends object ? { -readonly [Key in keyof Value]: Mutable<Value[Key]> } : Value;

expectTypeOf<z.output<typeof work>>().toEqualTypeOf<Mutable<Work>>();
expectTypeOf<z.output<typeof workHeartbeat>>().toEqualTypeOf<Mutable<WorkHeartbeat>>();
expectTypeOf<z.output<typeof workQueueStats>>().toEqualTypeOf<Mutable<WorkQueueStats>>();
expectTypeOf<z.output<typeof workUpdateBody>>().toEqualTypeOf<Mutable<WorkUpdateParams>>();
expectTypeOf<z.output<typeof fileMetadata>>().toEqualTypeOf<Mutable<FileMetadata>>();
expectTypeOf<z.output<typeof filePage>>().toExtend<FilePage>();
expectTypeOf<keyof z.output<typeof filePage>>().toEqualTypeOf<keyof FilePage>();
expectTypeOf<z.output<typeof deletedFile>>().toEqualTypeOf<Mutable<DeletedFile>>();
expectTypeOf<z.output<typeof fileResource>>().toEqualTypeOf<Mutable<FileResource>>();
expectTypeOf<z.output<typeof fileResourceParams>>().toEqualTypeOf<Mutable<FileResourceParams>>();
expectTypeOf<z.output<typeof directoryResource>>().toEqualTypeOf<Mutable<DirectoryResource>>();
expectTypeOf<z.output<typeof directoryResourceParams>>().toEqualTypeOf<Mutable<DirectoryResourceParams>>();
expectTypeOf<z.output<typeof githubRepositoryResource>>().toEqualTypeOf<Mutable<GithubRepositoryResource>>();
expectTypeOf<z.output<typeof githubRepositoryResourceParams>>().toEqualTypeOf<
  Mutable<GithubRepositoryResourceParams>
>();
expectTypeOf<z.output<typeof gitRepositoryResource>>().toEqualTypeOf<Mutable<GitRepositoryResource>>();
expectTypeOf<z.output<typeof gitRepositoryResourceParams>>().toEqualTypeOf<Mutable<GitRepositoryResourceParams>>();
expectTypeOf<z.output<typeof deletedResource>>().toEqualTypeOf<Mutable<DeletedSessionResource>>();
expectTypeOf<z.output<typeof modelInfo>>().toEqualTypeOf<Mutable<ModelInfo>>();

import type {
  DirectoryMode,
  DirectoryResource,
  DirectoryResourceParams,
  FileResource,
  GithubRepositoryResource,
  GithubRepositoryResourceParams,
  GitRepositoryResource,
  GitRepositoryResourceParams,
  MountedResource,
  SourceResource,
  SourceResourceParams,
} from '@fleetloom/protocol/managed-agents';
import { expectTypeOf } from 'vitest';

// The sources of a workspace. `type` distinguishes them, also among the resources that the hosted API has.

expectTypeOf<SourceResource>().toEqualTypeOf<GithubRepositoryResource | GitRepositoryResource | DirectoryResource>();
expectTypeOf<MountedResource>().toEqualTypeOf<FileResource | SourceResource>();
expectTypeOf<MountedResource['type']>().toEqualTypeOf<'file' | 'github_repository' | 'git_repository' | 'directory'>();
expectTypeOf<SourceResourceParams>().toEqualTypeOf<
  GithubRepositoryResourceParams | GitRepositoryResourceParams | DirectoryResourceParams
>();
expectTypeOf<DirectoryMode>().toEqualTypeOf<'worktree' | 'copy' | 'in_place' | 'read_only'>();
expectTypeOf<{ type: 'directory'; path: string }>().toExtend<DirectoryResourceParams>();
expectTypeOf<{ type: 'git_repository'; url: string }>().toExtend<GitRepositoryResourceParams>();
// A token is sent and never returned.
expectTypeOf<GithubRepositoryResourceParams>().toHaveProperty('authorization_token');
expectTypeOf<SourceResource>().not.toHaveProperty('authorization_token');
expectTypeOf<GitRepositoryResource['credential_id']>().toEqualTypeOf<string | null>();
expectTypeOf<DirectoryResource['mount_path']>().toEqualTypeOf<'/workspace'>();

import { z } from 'zod';
import { workspaceLimits } from '../../workspaces/limits.ts';
import { fileLimits } from '../../files/limits.ts';
import { httpLimits } from '../limits.ts';
import { storeLimits } from '../../store/limits.ts';
import { pageQuery } from '../paging/paging.ts';
import { moment } from './common.ts';

const fileId = z.string().min(1).max(httpLimits.pathIdCharsMax);

/** A file in responses. */
export const fileMetadata = z
  .strictObject({
    type: z.literal('file'),
    id: z.string(),
    filename: z.string(),
    mime_type: z.string(),
    size_bytes: z.int(),
    downloadable: z.boolean(),
    created_at: moment,
    expires_at: moment.nullable(),
    scope: z.strictObject({ type: z.literal('session'), id: z.string() }).nullable(),
  })
  .meta({ id: 'File' });

/** A page with the fields for new and for older clients. */
export const filePage = z.strictObject({
  data: z.array(fileMetadata),
  next_page: z.string().nullable(),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

/** The query of `GET /v1/files`. */
export const fileListQuery = z.strictObject({
  ...pageQuery({ max: storeLimits.pageItemsMax, normally: httpLimits.recordPageItemsDefault }),
  after_id: fileId.exactOptional(),
  before_id: fileId.exactOptional(),
  ids: z.array(fileId).exactOptional(),
  scope_id: z.string().exactOptional(),
});

/** The response to the deletion of a file. */
export const deletedFile = z
  .strictObject({ type: z.literal('file_deleted'), id: z.string() })
  .meta({ id: 'DeletedFile' });

/** A mounted file of a session in responses. */
export const fileResource = z
  .strictObject({
    type: z.literal('file'),
    id: z.string(),
    file_id: z.string(),
    mount_path: z.string(),
    created_at: moment,
    updated_at: moment,
  })
  .meta({ id: 'FileResource' });

/** A file to mount in a session. */
export const fileResourceParams = z.strictObject({
  type: z.literal('file'),
  file_id: fileId,
  mount_path: z.string().min(1).max(fileLimits.mountPathCharsMax).nullable().exactOptional(),
});

/** A token of a git host. It becomes part of a header, so it has no spaces or control characters. */
export const repositoryToken = z
  .string()
  .min(1)
  .max(workspaceLimits.tokenCharsMax)
  .regex(/^[\x21-\x7e]+$/, 'has characters that a token cannot have');

const setup = z.string().min(1).max(workspaceLimits.setupCommandCharsMax).nullable().exactOptional();
const absolutePath = z.string().min(1).max(workspaceLimits.sourcePathCharsMax);
const repositoryUrl = z.string().min(1).max(workspaceLimits.sourcePathCharsMax);

const checkout = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('branch'), name: z.string().min(1).max(workspaceLimits.sourceBaseCharsMax) }),
  z.strictObject({ type: z.literal('commit'), sha: z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/) }),
]);

const directoryMode = z.enum(['worktree', 'copy', 'in_place', 'read_only']);

export const directoryResource = z
  .strictObject({
    type: z.literal('directory'),
    id: z.string(),
    path: z.string(),
    mode: directoryMode,
    mount_path: z.literal('/workspace'),
    base: z.string().nullable(),
    commit: z.string().nullable(),
    branch: z.string().nullable(),
    include_uncommitted: z.boolean(),
    copy: z.array(z.string()),
    setup: z.string().nullable(),
    created_at: moment,
    updated_at: moment,
  })
  .meta({ id: 'DirectoryResource' });

const repositoryFields = {
  id: z.string(),
  url: z.string(),
  mount_path: z.string(),
  created_at: moment,
  updated_at: moment,
};

export const githubRepositoryResource = z
  .strictObject({
    type: z.literal('github_repository'),
    ...repositoryFields,
    checkout: checkout.nullable().exactOptional(),
    setup: z.string().exactOptional(),
  })
  .meta({ id: 'GithubRepositoryResource' });

export const gitRepositoryResource = z
  .strictObject({
    type: z.literal('git_repository'),
    ...repositoryFields,
    checkout: checkout.nullable(),
    credential_id: z.string().nullable(),
    setup: z.string().exactOptional(),
  })
  .meta({ id: 'GitRepositoryResource' });

/** A resource of a session in responses. */
export const sessionResource = z.discriminatedUnion('type', [
  fileResource,
  directoryResource,
  githubRepositoryResource,
  gitRepositoryResource,
]);

/** One line that is not an option of git: the text becomes an argument, or a line of a file. */
const line = (charsMax: number) =>
  z
    .string()
    .min(1)
    .max(charsMax)
    .regex(/^\P{Cc}+$/u, 'has control characters');

export const directoryResourceParams = z.strictObject({
  type: z.literal('directory'),
  path: absolutePath,
  mode: directoryMode.nullable().exactOptional(),
  base: line(workspaceLimits.sourceBaseCharsMax).regex(/^[^-]/, 'begins with -').nullable().exactOptional(),
  include_uncommitted: z.boolean().exactOptional(),
  copy: z.array(line(workspaceLimits.copyPatternCharsMax)).max(workspaceLimits.copyPatternsMax).exactOptional(),
  setup,
});

export const githubRepositoryResourceParams = z.strictObject({
  type: z.literal('github_repository'),
  url: repositoryUrl,
  authorization_token: repositoryToken.exactOptional(),
  checkout: checkout.nullable().exactOptional(),
  mount_path: absolutePath.nullable().exactOptional(),
  setup,
});

export const gitRepositoryResourceParams = z.strictObject({
  type: z.literal('git_repository'),
  url: repositoryUrl,
  checkout: checkout.nullable().exactOptional(),
  mount_path: absolutePath.nullable().exactOptional(),
  credential_id: z.string().min(1).max(httpLimits.pathIdCharsMax).nullable().exactOptional(),
  setup,
});

/** A resource in the request that creates a session. */
export const sessionResourceParams = z.discriminatedUnion('type', [
  fileResourceParams,
  directoryResourceParams,
  githubRepositoryResourceParams,
  gitRepositoryResourceParams,
]);

/** The query of `GET …/resources`. */
export const resourceListQuery = z.strictObject(
  pageQuery({ max: storeLimits.pageItemsMax, normally: storeLimits.pageItemsMax }),
);

/** The response to the removal of a mounted file. */
export const deletedResource = z
  .strictObject({ type: z.literal('session_resource_deleted'), id: z.string() })
  .meta({ id: 'DeletedSessionResource' });

/** Fields of an entry of `publish`. `targets/registry.ts` has an entry for each kind. */
export const TARGET_FIELDS = {
  git: {
    type: "object",
    fields: {
      remote: {
        type: "string",
        required: true,
        description: "Address of the repository, or a folder, relative to the configuration.",
        example: "git@github.com:example/lists.git",
      },
      branch: {
        type: "string",
        required: true,
        description: "A branch that nothing else uses. Each publish replaces its only commit.",
        example: "lists",
      },
      max_file: {
        type: "size",
        description: "Largest file that the forge accepts. Default: `100M`.",
        example: "100M",
      },
      max_total: {
        type: "size",
        description: "Largest size of all files together. Default: `1G`.",
        example: "1G",
      },
    },
    description:
      "A branch of a git repository: `remote` is its address or folder, `branch` a branch that nothing else uses. A file over `max_file` (default `100M`), or more than `max_total` (default `1G`) in all, is an error. Credentials are those of git.",
  },
  s3: {
    type: "object",
    fields: {
      endpoint: {
        type: "string",
        required: true,
        description: "Address of the store.",
        example: "https://s3.eu-central-1.amazonaws.com",
      },
      bucket: {
        type: "string",
        required: true,
        description: "Name of the bucket, which must exist.",
        example: "example-lists",
      },
      region: {
        type: "string",
        description: "Region, as the store is configured. Default: `us-east-1`.",
        example: "eu-central-1",
      },
      prefix: {
        type: "string",
        description: "Folder in the bucket. Default: none.",
        example: "dns",
      },
      path_style: {
        type: "boolean",
        description:
          "Whether the bucket is part of the path, or else of the host name. Default: `true`.",
      },
      cache_control: {
        type: "string",
        description: "`Cache-Control` of the files. Default: `no-cache`.",
        example: "max-age=300",
      },
    },
    description:
      "A bucket of an S3-compatible store: `endpoint`, `bucket`, `region` (default `us-east-1`), `prefix`, `path_style` (default `true`) and `cache_control` (default `no-cache`). The keys are in `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.",
  },
  timeout: {
    type: "duration",
    description: "How long it may take, at most `1h`. Default: `10m`.",
    example: "5m",
  },
} as const;

/** The field of a configuration. */
export const TARGETS_FIELD: {
  readonly publish: {
    readonly type: "objects";
    readonly fields: typeof TARGET_FIELDS;
    readonly description: string;
  };
} = {
  publish: {
    type: "objects",
    fields: TARGET_FIELDS,
    description:
      "Where the published files are copied to: git branches and buckets; see [Targets](#targets). They are used only with `--publish`.",
  },
};

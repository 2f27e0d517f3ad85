/** Of what servers send instead of a list. */
export const DOWNLOAD_CODES = {
  "source-not-list": {
    exit: 4,
    meaning:
      "A server sent JSON, XML or a message such as `404: Not Found` with status 200, not a list.",
    hint: "Open the URL in a browser; a list in JSON needs `type: json`",
  },
  "cut-line": {
    meaning:
      "A response without Content-Length ended within a line. The line may be truncated and was skipped.",
    hint: "Report it to the maintainer of the list: it should end with a line feed, or its server should send Content-Length",
  },
  "download-too-large": {
    exit: 4,
    meaning:
      "All downloads together would use more than a quarter of the free space in the temporary folder; the largest was stopped. If that folder is in memory, the memory limit of the process counts as well.",
    hint: "Remove the source, free some space, or choose another folder with TMPDIR",
  },
} as const;

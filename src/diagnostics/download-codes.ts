/** Of what servers send instead of a list. */
export const DOWNLOAD_CODES = {
  "source-not-list": {
    exit: 4,
    meaning:
      "What a server sent with status 200 is JSON, XML or a message such as `404: Not Found`, not a list.",
    hint: "Open the address in a browser; a list in JSON needs `type: json`",
  },
  "cut-line": {
    meaning:
      "A server did not say how long its answer is, and the answer ended within a line. The line may be cut and is left out.",
    hint: "Tell the list's maintainer: the list should end with a line feed, or its server send Content-Length",
  },
  "download-too-large": {
    exit: 4,
    meaning:
      "All downloads together would take more than a quarter of what is free in the temporary folder; the largest was stopped. Where that folder lies in memory, what the process may use counts.",
    hint: "Remove the source, make room, or name another folder with TMPDIR",
  },
} as const;

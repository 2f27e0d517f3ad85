/** A hosts file and rules with what lists have in practice: comments, duplicates, covered names, and a line that would block too much. */
export const EXAMPLE: readonly (readonly [name: string, text: string])[] = [
  [
    "hosts.txt",
    `# a hosts file
127.0.0.1 localhost
0.0.0.0 ads.example.com
0.0.0.0 banner.ads.example.com # covered by the line above
0.0.0.0 metrics.example.net
0.0.0.0 good.example.com
`,
  ],
  [
    "own-rules.txt",
    `! my own
||tracker.example.net^
||com^
ads.example.com
@@||good.example.com^
example.org##.banner
/^ad[0-9]+\\./
`,
  ],
];

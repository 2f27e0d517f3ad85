/**
 * To be run in a network namespace of its own, whose loopback has one public and some private addresses: redirects,
 * names and rebinding lead from the public one to the private ones. Says as JSON who was asked for what.
 */
import { createSocket } from "node:dgram";
import { createServer } from "node:http";
import process from "node:process";
import { CompilerError, compile, nodeHost } from "./internals.ts";

const PUBLIC = "93.184.216.34";
const PRIVATE = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.7.7"];
const SECRET = "||secret.example^\n";

const asked: string[] = [];
const targets: Record<string, string> = {
  metadata: "http://169.254.169.254/latest/meta-data/",
  ten: "http://10.0.0.1/",
  home: "http://192.168.7.7/",
  loop: "http://127.0.0.1/",
  short: "http://127.1/",
  number: "http://2130706433/",
  hex: "http://0x7f000001/",
  octal: "http://0177.0.0.1/",
  zero: "http://0.0.0.0/",
  six: "http://[::1]/",
  mapped: "http://[::ffff:10.0.0.1]/",
  nat: "http://[64:ff9b::a00:1]/",
  localhost: "http://localhost/",
  name: "http://private.test/",
  mixed: "http://mixed.test/",
  rebinding: "http://rebind.test/",
  again: "/to/metadata",
  longer: "/to/again",
  protocol: "//10.0.0.1/",
  credentials: "http://user:pass@169.254.169.254/",
};

for (const address of [PUBLIC, ...PRIVATE]) {
  const server = createServer((request, response) => {
    if (address !== PUBLIC) asked.push(`${address} ${request.headers.host} ${request.url}`);
    const to = targets[request.url?.split("/to/")[1] ?? ""];
    if (to !== undefined) response.writeHead(302, { location: to }).end();
    else if (address === PUBLIC && request.url === "/include")
      response.end("!#include to/metadata\n||a.example^\n");
    else response.end(address === PUBLIC ? "||public.example^\n" : SECRET);
  });
  await new Promise<void>((resolve) => server.listen(80, address, resolve));
}

/** Of an answer: the name of the question, an address, a moment. */
const NAME_AND_TYPE = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4];

/** Answers for `*.test`; `rebind.test` is public the first time and private ever after. */
let rebinds = 0;
const names = createSocket("udp4");
names.on("message", (query, from) => {
  const labels: string[] = [];
  let at = 12;
  while (query[at] !== 0) {
    labels.push(String(query.subarray(at + 1, at + 1 + query[at]!)));
    at += 1 + query[at]!;
  }
  const isA = query.readUInt16BE(at + 1) === 1;
  const name = labels.join(".");
  const addresses = !isA
    ? []
    : name === "public.test"
      ? [PUBLIC]
      : name === "private.test"
        ? ["10.0.0.1"]
        : name === "mixed.test"
          ? [PUBLIC, "10.0.0.1"]
          : name === "rebind.test"
            ? [rebinds++ % 2 === 0 ? PUBLIC : "10.0.0.1"]
            : [];
  const head = Uint8Array.from([
    query[0]!,
    query[1]!,
    0x81,
    0x80,
    0,
    1,
    0,
    addresses.length,
    0,
    0,
    0,
    0,
  ]);
  const records = addresses.flatMap((address) => [
    ...NAME_AND_TYPE,
    ...address.split(".").map(Number),
  ]);
  const question = query.subarray(12, at + 5);
  names.send([head, question, Uint8Array.from(records)], from.port, from.address);
});
await new Promise<void>((resolve) => names.bind(53, "127.0.0.1", resolve));

async function outcomeOf(source: string): Promise<string> {
  try {
    const result = await compile(
      { name: "n", sources: [{ source }] },
      { host: nodeHost(), fetchLimits: { retries: 1, pauseMs: 1 } },
    );
    result.close();
    return new TextDecoder().decode(result.bytes).includes("secret") ? "SECRET" : "public";
  } catch (error) {
    if (!(error instanceof CompilerError)) throw error;
    return error.diagnostics[0]!.code;
  }
}

const outcomes: Record<string, string> = {
  direct: await outcomeOf(`http://${PUBLIC}/`),
  "by name": await outcomeOf("http://public.test/"),
  include: await outcomeOf(`http://${PUBLIC}/include`),
};
for (const target of Object.keys(targets))
  outcomes[target] = await outcomeOf(`http://${PUBLIC}/to/${target}`);
// Asked again and again: whatever a name resolves to at the moment, only the address that was looked at is spoken to.
const rebinding: string[] = [];
for (let round = 0; round < 20; round++) rebinding.push(await outcomeOf("http://rebind.test/"));
process.stdout.write(
  JSON.stringify({ asked, outcomes, rebinding, chains: Object.keys(targets).length }),
);
process.exit(0);

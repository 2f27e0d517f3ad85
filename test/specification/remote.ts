import assert from "node:assert/strict";
import { ApiKey, fetchAccountLimits } from "../../src/dns-api/account-limits.ts";
import { type RouteContext, route } from "../../src/server/routes.ts";
import { type FetchRequest, type Host, memoryHost } from "../support/internals.ts";
import type { SpecifiedSection } from "../support/specified.ts";
import { servedForADay } from "./served-for-a-day.ts";

/** Asks the DNS API, which answers with these, one after the other; returns what it was asked and how long was waited. */
async function asked(
  ...statuses: readonly number[]
): Promise<{ requests: FetchRequest[]; waits: number[] }> {
  const requests: FetchRequest[] = [];
  const waits: number[] = [];
  const host: Host = {
    ...memoryHost(),
    wait: async (ms) => void waits.push(ms),
    fetch: async (request) => {
      requests.push(request);
      request.take(new TextEncoder().encode("{}"));
      return { status: statuses[requests.length - 1] ?? 200, headers: {} };
    },
  };
  await fetchAccountLimits({ url: "https://api.example", key: new ApiKey("k-1", "test") }, host);
  return { requests, waits };
}

export const dnsApi: SpecifiedSection = {
  title: "DNS API",
  items: [
    {
      item: "GET {dns_api_url}/v1/limits",
      meaning: "What an account may use. No body.",
      met: "`rules-compiler limits`",
      check: async () => {
        const { requests } = await asked(200);
        assert.deepEqual(
          requests.map(({ url }) => url),
          ["https://api.example/v1/limits"],
        );
      },
    },
    {
      item: "Authorization: ApiKey <API_KEY>",
      meaning: "The header that carries the key.",
      check: async () => {
        const { requests } = await asked(200);
        assert.equal(requests[0]!.headers["authorization"], "ApiKey k-1");
      },
    },
    {
      item: "HTTP 429",
      meaning: "The API limits its rate: wait, then try again.",
      check: async () => {
        const { requests, waits } = await asked(429, 429, 200);
        assert.equal(requests.length, 3);
        assert.equal(waits.length, 2);
      },
    },
  ],
};

function facts(isHealthy: boolean): RouteContext {
  const health = { status: isHealthy ? "ok" : "failing", reason: "", isHealthy };
  return { health: () => health, metrics: () => "x 1\n" } as unknown as RouteContext;
}

async function statusOf(target: string, isHealthy: boolean): Promise<number> {
  const request = { method: "GET", target, headers: {}, address: "127.0.0.1" };
  return (await route(request, facts(isHealthy)).reply).status;
}

export const server: SpecifiedSection = {
  title: "Server",
  items: [
    {
      item: "GET /health",
      meaning: "2xx if the server is healthy, another status otherwise.",
      door: ".NET",
      met: "`rules-compiler serve`",
      check: async () => {
        assert.equal(await statusOf("/health", true), 200);
        assert.equal(await statusOf("/health", false), 503);
      },
    },
    {
      item: "port 5000",
      meaning: "Where the server answers.",
      door: ".NET",
      met: "`rules-compiler serve`",
      check: async () => {
        const { listenOn, health } = await servedForADay();
        assert.equal(listenOn.port, 5000);
        assert.equal(health.status, 200);
      },
    },
    {
      item: "metrics endpoint",
      meaning: "No path was named.",
      door: ".NET",
      met: "`/metrics` of `rules-compiler serve`",
      check: async () => assert.equal(await statusOf("/metrics", true), 200),
    },
  ],
};

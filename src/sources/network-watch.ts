import { type Host, HostError } from "../host/host.ts";

/** Knows whether any server answered. */
export class NetworkWatch {
  private asked = 0;
  private hasAnswered = false;

  /** Whether servers were asked, and none answered. */
  get isDown(): boolean {
    return this.asked > 0 && !this.hasAnswered;
  }

  watch(host: Host): Host {
    return {
      ...host,
      fetch: async (request) => {
        this.asked++;
        try {
          const response = await host.fetch(request);
          this.hasAnswered = true;
          return response;
        } catch (error) {
          // Refused by us, whatever the network.
          if (error instanceof HostError && error.code === "EPRIVATE") this.hasAnswered = true;
          throw error;
        }
      },
    };
  }
}

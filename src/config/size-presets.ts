import type { OutputConfig } from "./config.ts";

/** The services and devices that `split.for` knows. */
export type PresetName = NonNullable<NonNullable<OutputConfig["split"]>["for"]>;

/** The documented limits of a service or device. */
export interface SizePreset {
  readonly service: string;
  /** The format of its lists. */
  readonly format: string;
  /** Maximum number of names per file. */
  readonly names: number;
  /** Maximum size of a file. */
  readonly size?: string;
  /** Maximum number of files, if there is one. */
  readonly files?: number;
  /** Where the limit is documented. */
  readonly source: string;
  /** When we read it. */
  readonly read: string;
  readonly note: string;
}

const CLOUDFLARE = {
  format: "dnsdist",
  files: 100,
  source: "https://developers.cloudflare.com/cloudflare-one/account-limits/",
  read: "2026-11-17",
} as const;

const FORTIGATE = {
  format: "domains",
  files: 1,
  source:
    "https://docs.fortinet.com/document/fortigate/7.4.0/new-features/677896/external-resource-entry-limit-enhancements-7-4-4",
  read: "2026-11-17",
  note: "FortiOS 7.4.4 or newer. The maximum includes all other feeds of names on the device.",
} as const;

/** The limits that `split.for` knows. Only limits that the vendor documents or its software reports. */
export const SIZE_PRESETS: Readonly<Record<PresetName, SizePreset>> = {
  "cloudflare-gateway": {
    ...CLOUDFLARE,
    service: "Cloudflare Gateway (Standard)",
    names: 1000,
    note: "Lists of type `DOMAIN`. The maximum includes all other lists of the account.",
  },
  "cloudflare-gateway-enterprise": {
    ...CLOUDFLARE,
    service: "Cloudflare Gateway (Enterprise)",
    names: 5000,
    note: "As above; the account team can raise it.",
  },
  "fortigate-entry": {
    ...FORTIGATE,
    service: "FortiGate, entry level",
    names: 1_000_000,
    size: "32M",
  },
  "fortigate-mid": {
    ...FORTIGATE,
    service: "FortiGate, mid-range",
    names: 3_000_000,
    size: "64M",
  },
  "fortigate-high": {
    ...FORTIGATE,
    service: "FortiGate, high end",
    names: 5_000_000,
    size: "128M",
  },
  "little-snitch": {
    service: "Little Snitch 5",
    format: "domains",
    names: 200_000,
    source: "https://github.com/fabston/little-snitch-blocklist/issues/14",
    read: "2026-11-17",
    note: "The program's own message; we found no limit in its manual.",
  },
  "pan-os": {
    service: "PAN-OS external dynamic list",
    format: "domains",
    names: 50_000,
    files: 1,
    source:
      "https://docs.paloaltonetworks.com/pan-os/7-1/pan-os-web-interface-help/objects/objects-external-dynamic-lists.html",
    read: "2026-11-17",
    note: "All lists of names of a device together, in PAN-OS 7.1. Newer versions have room for more, by model: set `max_rules` instead.",
  },
};

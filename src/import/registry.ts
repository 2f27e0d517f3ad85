import { addressList } from "./address-list.ts";
import { adguardHome } from "./adguard-home.ts";
import { blocky } from "./blocky.ts";
import { hostsFile } from "./hosts-file.ts";
import type { ConfigReader } from "./imported-config.ts";
import { hostlistCompiler } from "./hostlist-compiler.ts";
import { pihole } from "./pihole.ts";

/** Readers of all supported software; the first that recognises the file is used. */
export const configReaders: readonly ConfigReader[] = [
  pihole,
  adguardHome,
  blocky,
  hostlistCompiler,
  addressList,
  hostsFile,
];

import { addressList } from "./address-list.ts";
import { adguardHome } from "./adguard-home.ts";
import { blocky } from "./blocky.ts";
import type { ForeignReader } from "./foreign-setup.ts";
import { ownConfig } from "./own-config.ts";
import { pihole } from "./pihole.ts";

/** All software whose settings can be read; the first that knows the file reads it. */
export const foreignReaders: readonly ForeignReader[] = [
  pihole,
  adguardHome,
  blocky,
  ownConfig,
  addressList,
];

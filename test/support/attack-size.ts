import process from "node:process";

/** `ATTACK_FULL=1` runs attacks in full size; the gate runs a short form of each. */
export const isFull: boolean = process.env["ATTACK_FULL"] === "1";

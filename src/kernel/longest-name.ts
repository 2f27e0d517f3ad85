/** Longer names are not compared. A real name has at most 253 characters. */
export const LONGEST_NAME = 2048;

/** Longer names than this are compared with nothing. A real one has 253 characters at the most. */
export const LONGEST_NAME = 2048;

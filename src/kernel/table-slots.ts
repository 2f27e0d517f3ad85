/** Slots of a hash table for this many entries: a power of two, at most half of them used. */
export function tableSlots(entries: number): number {
  let slots = 16;
  while (slots < entries * 2) slots *= 2;
  return slots;
}

/** Slots for pairs of a gateway and a key, of which few occur in the simulated time. */
export type PairTable = {
  size: number;
  /** The same for the same pair. */
  slotOf: (gateway: number, key: number) => number;
};

/** Open addressing with at most half of the slots in use. `pairs` is the largest number that can occur. */
export function createPairTable(pairs: number, keys: number): PairTable {
  const size = 2 ** Math.ceil(Math.log2(pairs * 2));
  const held = new Float64Array(size).fill(-1);
  const slotOf = (gateway: number, key: number) => {
    const pair = gateway * keys + key;
    let hash = Math.imul(gateway + 1, 0x9e3779b1) ^ Math.imul(key + 1, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
    let slot = (hash ^ (hash >>> 13)) & (size - 1);
    while (held[slot] !== -1 && held[slot] !== pair) slot = (slot + 1) & (size - 1);
    held[slot] = pair;
    return slot;
  };
  return { size, slotOf };
}

/** One copy per bit, with that bit changed. */
export function flippedBits(bytes: Buffer): Buffer[] {
  return Array.from({ length: bytes.length * 8 }, (_, bit) => {
    const copy = Buffer.from(bytes);
    copy[bit >> 3]! ^= 1 << (bit & 7);
    return copy;
  });
}

/** The same for the text of a header, a character per byte as Node reads it. */
export function flippedHeaders(header: string): string[] {
  return flippedBits(Buffer.from(header, 'latin1')).map((bytes) => bytes.toString('latin1'));
}

/** Runs them all, so many at a time; answers what each gave, in their order. */
export async function atOnce<T, R>(
  many: number,
  items: readonly T[],
  run: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const goOn = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await run(items[index]!);
    }
  };
  await Promise.all(Array.from({ length: many }, goOn));
  return results;
}

/** Works on one item after the other, and returns what that gives, in their order. */
export async function inTurn<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Result | Promise<Result>,
): Promise<Awaited<Result>[]> {
  const results: Awaited<Result>[] = [];
  for (const [index, item] of items.entries()) results.push(await work(item, index));
  return results;
}

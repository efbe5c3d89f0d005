/**
 * What stands at a path such as `items.0.price`; undefined where nothing does. Sees own, enumerable properties only, so neither
 * a prototype nor the `length` of a list can be reached.
 */
export function valueAt(root: object, path: string): unknown {
  let value: unknown = root;
  for (const segment of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (!Object.prototype.propertyIsEnumerable.call(value, segment)) return undefined;
    value = (value as Record<string, unknown>)[segment];
  }
  return value;
}

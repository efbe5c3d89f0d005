/**
 * Where this installation describes an operation to people: a reader of a mail is led there, and not told a method and a path.
 * The operation is `<tag>_<name>`, as in the OpenAPI document.
 */
export function referenceTo(publicUrl: string, operationId: `${string}_${string}`): string {
  const [tag] = operationId.split('_');
  return `${publicUrl}/docs#/${tag}/${operationId}`;
}

import { tagOf } from '../../platform/http/documentation-tags.js';

/**
 * Where this installation describes an operation to people: a reader of a mail is led there, and not told a method and a path.
 * The operation is `<resource>.<verb>`, as in the OpenAPI document.
 */
export function referenceTo(publicUrl: string, operationId: `${string}.${string}`): string {
  const [resource] = operationId.split('.');
  return `${publicUrl}/docs#/${tagOf(resource!)}/${operationId}`;
}

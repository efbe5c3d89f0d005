import { DefaultNamingStrategy } from 'typeorm';

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Properties are camelCase, columns snake_case; an entity names its table itself. */
export class SnakeNaming extends DefaultNamingStrategy {
  override columnName(property: string, custom: string | undefined, prefixes: string[]): string {
    return snake([...prefixes, custom ?? property].join('_'));
  }
}

const camel = new Map<string, string>();

/** `workspace_id` to `workspaceId`; the names of columns are few, so each is turned once. */
export function camelCase(column: string): string {
  let name = camel.get(column);
  if (name === undefined) {
    name = column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    camel.set(column, name);
  }
  return name;
}

import type { EntityMetadata } from 'typeorm';

/** How a row of one entity is inserted: made once from TypeORM's metadata, so that each insert is one fixed statement. */
export interface Insertion {
  text: string;
  columns: { property: string; parameter: (value: unknown) => unknown }[];
}

const PARAMETERS: Record<string, (value: unknown) => unknown> = {
  // pg would write an array as a PostgreSQL array; a jsonb column wants JSON.
  jsonb: (value) => (value === null ? null : JSON.stringify(value)),
  timestamptz: (value) => (value === null ? null : new Date(value as number)),
};

export function insertionOf(metadata: EntityMetadata): Insertion {
  const columns = metadata.columns.filter((column) => column.isInsert);
  const names = columns.map((column) => `"${column.databaseName}"`).join(', ');
  const places = columns.map((_, index) => `$${index + 1}`).join(', ');
  return {
    text: `insert into ${metadata.tableName} (${names}) values (${places})`,
    columns: columns.map((column) => {
      const convert = PARAMETERS[String(column.type)];
      return {
        property: column.propertyName,
        parameter: (value) => (convert ? convert(value ?? null) : (value ?? null)),
      };
    }),
  };
}

import { getMetadataArgsStorage } from 'typeorm';
import type { Statement } from './batch.js';
import { SnakeNaming } from './snake-naming.js';

/** A class that `@Entity` and `@Column` describe. */
export type EntityClass<T extends object> = new () => T;

interface TableColumn {
  property: string;
  name: string;
  /** False for what a read leaves out unless it asks for it (`select: false`). */
  isSelected: boolean;
  parameter: (value: unknown) => unknown;
}

interface Table {
  name: string;
  columns: readonly TableColumn[];
  insert: string;
}

/** Which columns to list, by the names of their properties. */
export interface ColumnChoice<T> {
  /** The alias of the table in the statement. */
  of?: string;
  without?: readonly (keyof T & string)[];
}

const PARAMETERS: Record<string, (value: unknown) => unknown> = {
  // pg would write an array as a PostgreSQL array; a jsonb column wants JSON.
  jsonb: (value) => (value === null ? null : JSON.stringify(value)),
  timestamptz: (value) => (value === null ? null : new Date(value as number)),
};

const naming = new SnakeNaming();
const tables = new Map<EntityClass<object>, Table>();

/**
 * The columns of an entity as a select list. Rows come back with the names of the properties (see Batch), so the entity
 * is the one place that says what a table holds.
 */
export function columnsOf<T extends object>(
  entity: EntityClass<T>,
  { of, without = [] }: ColumnChoice<T> = {},
): string {
  const prefix = of === undefined ? '' : `${of}.`;
  return tableOf(entity)
    .columns.filter(({ property, isSelected }) => isSelected && !without.some((one) => one === property))
    .map(({ name }) => `${prefix}"${name}"`)
    .join(', ');
}

/** Adds one row. */
export function insertOf<T extends object>(entity: EntityClass<T>, row: T): Statement {
  const { insert, columns } = tableOf(entity);
  return {
    text: insert,
    values: columns.map((column) => column.parameter(row[column.property as keyof T] ?? null)),
  };
}

/** Sets what `changes` names in the rows that equal `key`; a property that is undefined stays as it is. */
export function updateOf<T extends object>(
  entity: EntityClass<T>,
  key: Partial<T>,
  changes: Partial<T>,
): Statement {
  const values: unknown[] = [];
  const where = equal(entity, key, values).join(' and ');
  const set = equal(entity, changes, values).join(', ');
  if (where === '' || set === '')
    throw new Error(`an update of ${entity.name} names its rows and its changes`);
  return { text: `update ${tableOf(entity).name} set ${set} where ${where}`, values };
}

/** The rows that equal `key`, with all their columns. */
export function selectOf<T extends object>(
  entity: EntityClass<T>,
  key: Partial<T>,
  lock?: 'for update' | 'for no key update' | 'for share',
): Statement {
  const values: unknown[] = [];
  const where = equal(entity, key, values).join(' and ');
  if (where === '') throw new Error(`a read of ${entity.name} names its rows`);
  return {
    text: `select ${columnsOf(entity)} from ${tableOf(entity).name} where ${where}${lock ? ` ${lock}` : ''}`,
    values,
  };
}

/** `"column" = $n` for each property that is given; the values are added to `values`. */
function equal<T extends object>(entity: EntityClass<T>, given: Partial<T>, values: unknown[]): string[] {
  const { columns } = tableOf(entity);
  return Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([property, value]) => {
      const column = columns.find((one) => one.property === property);
      if (!column) throw new Error(`${entity.name} has no column for ${property}`);
      return `"${column.name}" = $${values.push(column.parameter(value))}`;
    });
}

/** The class and those whose columns it inherits. */
function withParents(entity: EntityClass<object>): EntityClass<object>[] {
  const parent = Object.getPrototypeOf(entity) as EntityClass<object>;
  return parent === Function.prototype ? [entity] : [entity, ...withParents(parent)];
}

function tableOf<T extends object>(entity: EntityClass<T>): Table {
  let table = tables.get(entity);
  if (!table) {
    const storage = getMetadataArgsStorage();
    const name = storage.filterTables(entity)[0]?.name;
    if (name === undefined) throw new Error(`${entity.name} is not an entity`);
    const columns = storage.filterColumns(withParents(entity)).map(({ propertyName, options }) => ({
      property: propertyName,
      name: naming.columnName(propertyName, options.name, []),
      isSelected: options.select !== false,
      parameter: PARAMETERS[String(options.type)] ?? ((value: unknown) => value),
    }));
    const names = columns.map((column) => `"${column.name}"`).join(', ');
    const places = columns.map((_, index) => `$${index + 1}`).join(', ');
    table = { name, columns, insert: `insert into ${name} (${names}) values (${places})` };
    tables.set(entity, table);
  }
  return table;
}

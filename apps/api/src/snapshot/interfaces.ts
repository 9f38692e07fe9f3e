import { registry } from '@tollway/schema';
import { type ConfigSnapshot, type Row, rowsOf } from './snapshot.js';

/** Interfaces are rows of several menus, one for each type. All types share one name space. */

const types = registry.filter(({ interfaceType }) => interfaceType !== undefined && interfaceType !== 'any');

/** Menus whose rows are interfaces. */
export const interfaceMenus: readonly string[] = types.map(({ path }) => path);

/** An interface and its type, such as `ether`. */
interface TypedInterface {
  readonly row: Row;
  readonly type: string;
}

/** Interfaces of all types, or only of one menu. */
export const typedInterfaces = (snapshot: ConfigSnapshot, path?: string): readonly TypedInterface[] =>
  types
    .filter((menu) => path === undefined || menu.path === path)
    .flatMap(({ path, interfaceType: type = '' }) => rowsOf(snapshot, path).map((row) => ({ row, type })));

/** Rows of the interfaces of all types. */
export const interfacesOf = (snapshot: ConfigSnapshot): readonly Row[] =>
  interfaceMenus.flatMap((path) => rowsOf(snapshot, path));

/** Name of an interface. */
export const interfaceName = ({ values }: Pick<Row, 'values'>): string => values.name ?? values['default-name'] ?? '';

/** The interface with a name, whatever its type. */
export const interfaceNamed = (snapshot: ConfigSnapshot, name: string): Row | undefined =>
  interfacesOf(snapshot).find((row) => interfaceName(row) === name);

/** Whether an interface of any type has this name. @param except id of a row that is not considered */
export function interfaceNameTaken(snapshot: ConfigSnapshot, name: string, except?: number): boolean {
  return interfaceMenus.some((path) =>
    rowsOf(snapshot, path).some((row) => row.id !== except && interfaceName(row) === name),
  );
}

/** Whether a queue of the tree has this name: as a parent, the name would be ambiguous. */
export const isTreeQueue = (snapshot: ConfigSnapshot, name: string): boolean =>
  rowsOf(snapshot, '/queue/tree').some(({ values }) => values.name === name);

/** Names of all interfaces by their rows. */
export const interfaceNames = (snapshot: ConfigSnapshot): ReadonlyMap<number, string> =>
  new Map(interfacesOf(snapshot).map((row) => [row.id, interfaceName(row)]));

import { registry } from '@tollway/schema';
import { type ConfigSnapshot, type Row, rowsOf } from './snapshot.js';

/** Interfaces are rows of several menus, one for each type. All types share one name space. */

const types = registry.filter(({ interfaceType }) => interfaceType !== undefined && interfaceType !== 'any');

/** Menus whose rows are interfaces. */
export const interfaceMenus: readonly string[] = types.map(({ path }) => path);

/** An interface, and of what type it is, `ether`. */
interface TypedInterface {
  readonly row: Row;
  readonly type: string;
}

/** Interfaces of all types, or of those of one menu. */
export const typedInterfaces = (snapshot: ConfigSnapshot, path?: string): readonly TypedInterface[] =>
  types
    .filter((menu) => path === undefined || menu.path === path)
    .flatMap(({ path, interfaceType: type = '' }) => rowsOf(snapshot, path).map((row) => ({ row, type })));

/** Rows of the interfaces of all types. */
export const interfacesOf = (snapshot: ConfigSnapshot): readonly Row[] =>
  interfaceMenus.flatMap((path) => rowsOf(snapshot, path));

/** Name of an interface. */
export const interfaceName = ({ values }: Pick<Row, 'values'>): string => values.name ?? values['default-name'] ?? '';

/** The interface of a name, of whatever type. */
export const interfaceNamed = (snapshot: ConfigSnapshot, name: string): Row | undefined =>
  interfacesOf(snapshot).find((row) => interfaceName(row) === name);

/** Whether an interface of any type has this name. @param except id of a row that does not count */
export function interfaceNameTaken(snapshot: ConfigSnapshot, name: string, except?: number): boolean {
  return interfaceMenus.some((path) =>
    rowsOf(snapshot, path).some((row) => row.id !== except && interfaceName(row) === name),
  );
}

/** Whether a queue of the tree has this name: as a parent it would mean the interface, too. */
export const isTreeQueue = (snapshot: ConfigSnapshot, name: string): boolean =>
  rowsOf(snapshot, '/queue/tree').some(({ values }) => values.name === name);

/** Names of all interfaces by their rows. */
export const interfaceNames = (snapshot: ConfigSnapshot): ReadonlyMap<number, string> =>
  new Map(interfacesOf(snapshot).map((row) => [row.id, interfaceName(row)]));
